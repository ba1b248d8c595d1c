/** Options of the commands that make load. Each throws a CommandError that names the option. */
import { CommandError, ExitCode } from './fail.js';

export function amqpUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'amqp:' || url?.protocol === 'amqps:') return url;
  throw new CommandError(`--url: "${text}" is no URL such as amqp://guest:guest@127.0.0.1:5672`, ExitCode.usage);
}

export function whole(option: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new CommandError(`--${option}: "${text}" is no whole number from ${least} to ${most}`, ExitCode.usage);
}

export function reading<T>(option: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new CommandError(`--${option}: ${(error as Error).message}`, ExitCode.usage);
  }
}

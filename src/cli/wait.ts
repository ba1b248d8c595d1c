/** The options `--no-wait` and `--timeout` of commands whose wishes take their time. */
import { type Command, InvalidArgumentError } from 'commander';

export interface WaitOptions {
  wait: boolean;
  /** Seconds. */
  timeout: number;
}

const pollMs = 50;

export function addWaitOptions(command: Command): Command {
  return command
    .option('--no-wait', 'return when the wish is known, not when it is fulfilled')
    .option('--timeout <seconds>', 'how long to wait', seconds, 60);
}

/** Asks until it is so, or the time is over: false. */
export async function untilTrue({ timeout }: WaitOptions, isSo: () => Promise<boolean>): Promise<boolean> {
  for (const deadline = performance.now() + timeout * 1000; ; ) {
    if (await isSo()) return true;
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

function seconds(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new InvalidArgumentError('a number of seconds is meant');
  return value;
}

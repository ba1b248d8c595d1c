import { pino, type Logger as PinoLogger } from 'pino';
import type { LogFields, Logger } from '../base/logger.js';
import type { LogLevel } from './log-level.js';
import { PrettyStream } from './pretty-stream.js';

/**
 * The process's logger, to standard error: one JSON object a line, or lines for people on a terminal.
 * Writes at once: what a process says before it dies is what one wants to read.
 */
export function processLogger(level: LogLevel, fields: LogFields = {}): Logger {
  const target = process.stderr.isTTY ? new PrettyStream(process.stderr) : pino.destination({ fd: 2, sync: true });
  return new PinoAdapter(pino({ level, base: fields, timestamp: pino.stdTimeFunctions.isoTime }, target));
}

class PinoAdapter implements Logger {
  private readonly pino: PinoLogger;

  constructor(logger: PinoLogger) {
    this.pino = logger;
  }

  debug(message: string, fields: LogFields = {}): void {
    this.pino.debug(fields, message);
  }

  info(message: string, fields: LogFields = {}): void {
    this.pino.info(fields, message);
  }

  warn(message: string, fields: LogFields = {}): void {
    this.pino.warn(fields, message);
  }

  error(message: string, fields: LogFields = {}): void {
    this.pino.error(fields, message);
  }

  child(fields: LogFields): Logger {
    return new PinoAdapter(this.pino.child(fields));
  }
}

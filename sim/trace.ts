import type { LogFields, Logger } from '../src/base/logger.js';
import type { EventLoop } from './event-loop.js';

/** The last lines of a run, or all of them: what is printed with a finding. */
export class Trace {
  private readonly loop: EventLoop;
  private readonly limit: number;
  /** Log lines of the nodes, too. */
  readonly verbose: boolean;
  private lines: string[] = [];

  constructor(loop: EventLoop, verbose: boolean, limit = 400) {
    this.loop = loop;
    this.verbose = verbose;
    this.limit = verbose ? Number.POSITIVE_INFINITY : limit;
  }

  add(who: string, what: string): void {
    this.lines.push(`${this.loop.now.toFixed(2).padStart(10)} ${who.padEnd(8)} ${what}`);
    if (this.lines.length > 2 * this.limit) this.lines = this.lines.slice(-this.limit);
  }

  toString(): string {
    return this.lines.slice(-this.limit).join('\n');
  }
}

function format(fields: LogFields): string {
  return Object.entries(fields)
    .map(([key, value]) => ` ${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('');
}

/** A node's log goes to the trace. */
export class TraceLogger implements Logger {
  private readonly trace: Trace;
  private readonly who: string;
  private readonly fields: LogFields;

  constructor(trace: Trace, who: string, fields: LogFields = {}) {
    this.trace = trace;
    this.who = who;
    this.fields = fields;
  }

  debug(message: string, fields?: LogFields): void {
    if (this.trace.verbose) this.write(message, fields);
  }
  info(message: string, fields?: LogFields): void {
    this.write(message, fields);
  }
  warn(message: string, fields?: LogFields): void {
    this.write(message, fields);
  }
  error(message: string, fields?: LogFields): void {
    this.write(message, fields);
  }
  child(fields: LogFields): Logger {
    return new TraceLogger(this.trace, this.who, { ...this.fields, ...fields });
  }

  private write(message: string, fields?: LogFields): void {
    this.trace.add(this.who, message + format({ ...this.fields, ...fields }));
  }
}

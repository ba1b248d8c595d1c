import type { LogFields, Logger } from '../src/base/logger.js';
import type { EventLoop } from './event-loop.js';

/** Put into words when it is read, which it rarely is. */
interface Line {
  readonly at: number;
  readonly who: string;
  readonly what: string;
  readonly fields: readonly (LogFields | undefined)[];
}

/** The last lines of a run, or all of them: what is printed with a finding. */
export class Trace {
  private readonly loop: EventLoop;
  private readonly limit: number;
  /** Log lines of the nodes, too. */
  readonly verbose: boolean;
  private lines: Line[] = [];

  constructor(loop: EventLoop, verbose: boolean, limit = 400) {
    this.loop = loop;
    this.verbose = verbose;
    this.limit = verbose ? Number.POSITIVE_INFINITY : limit;
  }

  add(who: string, what: string, ...fields: readonly (LogFields | undefined)[]): void {
    this.lines.push({ at: this.loop.now, who, what, fields });
    if (this.lines.length > 2 * this.limit) this.lines = this.lines.slice(-this.limit);
  }

  toString(): string {
    return this.lines.slice(-this.limit).map(render).join('\n');
  }
}

function render({ at, who, what, fields }: Line): string {
  const more = fields.length === 0 ? '' : format(Object.assign({}, ...fields) as LogFields);
  return `${at.toFixed(2).padStart(10)} ${who.padEnd(8)} ${what}${more}`;
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
    this.trace.add(this.who, message, this.fields, fields);
  }
}

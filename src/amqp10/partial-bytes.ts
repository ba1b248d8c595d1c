import { AmqpError, Condition } from './codec/index.js';

/**
 * Bytes of messages in several frames that have come in part, of all connections together. Over the limit whoever holds the most ends, so
 * that many that begin and never finish do not keep out others.
 */
export class AllPartialBytes {
  private readonly bytesMax: number;
  private readonly holders: Set<PartialBytes> = new Set();
  private total = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** Throws AmqpError resource-limit-exceeded if the one that asks holds the most. */
  added(asking: PartialBytes, bytes: number): void {
    this.total += bytes;
    this.holders.add(asking);
    if (this.total <= this.bytesMax) return;
    let largest = asking;
    for (const holder of this.holders) if (holder.held > largest.held) largest = holder;
    const error = tooMuch(`all connections hold more than ${this.bytesMax} bytes, this one most of them`);
    if (largest === asking) throw error;
    largest.end(error);
  }

  removed(holder: PartialBytes, bytes: number): void {
    this.total -= bytes;
    if (holder.held === 0) this.holders.delete(holder);
  }
}

/** The same of one connection. */
export class PartialBytes {
  held = 0;
  /** Ends the connection with the error. */
  readonly end: (error: AmqpError) => void;
  private readonly bytesMax: number;
  private readonly all: AllPartialBytes;

  constructor(bytesMax: number, all: AllPartialBytes, end: (error: AmqpError) => void) {
    this.bytesMax = bytesMax;
    this.all = all;
    this.end = end;
  }

  /** Throws AmqpError resource-limit-exceeded, for the connection. What was added is to be removed all the same. */
  add(bytes: number): void {
    this.held += bytes;
    this.all.added(this, bytes);
    if (this.held > this.bytesMax) throw tooMuch(`the links of this connection hold more than ${this.bytesMax} bytes`);
  }

  remove(bytes: number): void {
    if (bytes === 0) return;
    this.held -= bytes;
    this.all.removed(this, bytes);
  }
}

function tooMuch(what: string): AmqpError {
  return new AmqpError(Condition.resourceLimitExceeded, `${what} of unfinished messages`);
}

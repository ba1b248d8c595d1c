import { AmqpError, Condition } from './codec/index.js';

/** Bytes of messages in several frames that a connection's links have received in part. */
export class PartialBytes {
  private readonly bytesMax: number;
  private held = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** Throws AmqpError resource-limit-exceeded, for the connection. */
  add(bytes: number): void {
    this.held += bytes;
    if (this.held <= this.bytesMax) return;
    const text = `the links of this connection hold more than ${this.bytesMax} bytes of unfinished messages`;
    throw new AmqpError(Condition.resourceLimitExceeded, text);
  }

  remove(bytes: number): void {
    this.held -= bytes;
  }
}

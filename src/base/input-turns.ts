import { Ring } from './ring.js';

/** Whoever sends no more than this is not kept waiting by those who send much: acks, handshakes, heartbeats. */
const shortBytes = 2048;

/** A socket whose input waits in line. */
export interface InputInLine {
  /** Its turn has come: handles what waits, or a part of it, and returns how many bytes that were. */
  goOn(): number;
}

/**
 * How much input of all sockets is handled in one turn of the event loop; the rest waits in line, in later turns. As much again
 * is kept for clients that send little.
 *
 * Without it, each socket that has much to be read is read for up to two megabytes in a turn: a few hundred of them keep the
 * process from everything else for seconds, from renewing its leases too.
 */
export class InputTurns {
  private readonly bytesMax: number;
  private readonly later: (run: () => void) => void;
  private readonly line = new Ring<InputInLine>();
  /** What this turn has room for. */
  private left: number;
  private scheduled = false;

  /** @param later runs a function in a later turn. */
  constructor(bytesMax: number, later: (run: () => void) => void) {
    this.bytesMax = bytesMax;
    this.left = bytesMax;
    this.later = later;
  }

  /** May `bytes` of input be handled now? If not, they are to line up. */
  hasRoomFor(bytes: number): boolean {
    if (bytes <= shortBytes && this.left > -this.bytesMax) return true;
    return this.left > 0 && this.line.length === 0;
  }

  /** Input was handled, outside of the line. */
  used(bytes: number): void {
    this.left -= bytes;
    this.schedule();
  }

  /** `goOn` is called in a later turn, once. */
  lineUp(input: InputInLine): void {
    this.line.push(input);
    this.schedule();
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    this.later(this.next);
  }

  private readonly next = (): void => {
    this.scheduled = false;
    this.left = this.bytesMax;
    for (let waiting = this.line.length; waiting > 0 && this.left > 0; waiting--)
      this.left -= this.line.shift()!.goOn();
    if (this.line.length > 0) this.schedule();
  };
}

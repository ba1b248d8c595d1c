import type { Socket } from 'node:net';
import { type Flushable, Phase, type Turn } from '../base/turn.js';
import { ByteWriter } from '../wire/byte-writer.js';

/** Of one connection. */
export interface OutputLimits {
  /** Bytes of output waiting for the client. Above it no credit is given; above `outputStallFactor` times it nothing is read. */
  readonly outputBytesMax: number;
  /** See there. */
  readonly deliverWithinMs: number;
}

/** Output above this many times `outputBytesMax` stops deliveries at once, and the reading of a client that does not read. */
export const outputStallFactor = 4;

/** What the output tells its connection. */
export interface OutputOwner {
  /** The last chance of this turn to write: confirms that were gathered. */
  beforeFlush(): void;
  /** The client reads again. */
  relieved(): void;
  /** Deliveries were to be written that are too old by now: nothing may be written any more. */
  overdue(): void;
  /** There is room for bodies of large messages again. */
  roomForBodies(): void;
}

/** A buffer larger than this is given up when a connection falls idle. */
const idleBufferBytesMax = 16 * 1024;
/**
 * Writes that the socket may have in hand. Each costs a buffer and some objects, however short it is: with a client that does not read, what
 * comes beyond them is gathered.
 */
const writesMax = 32;
/** Assumed size of a delivery until some were made, and how slowly the average follows. */
const firstDeliveryBytes = 4096;
const averageWeight = 1 / 16;

/**
 * All output of a connection. Frames are encoded into `writer`; what a turn has gathered leaves with one write at its end.
 * It knows how much the client has not taken yet, and so when deliveries must stop (`socket.write` buffers without bound).
 */
export class Output implements Flushable {
  readonly writer: ByteWriter = new ByteWriter();
  /** True: no further credit to consumers until `OutputOwner.relieved`. */
  congested = false;
  /** Consumers of the connection: they share its output. */
  consumerCount = 0;
  /** What waits for the end of a large message's body, of each channel on which one goes out. */
  readonly gathered: Set<ByteWriter> = new Set();
  /** Something was written since this was last reset; the heartbeat looks at it. */
  active = false;
  private readonly socket: Socket;
  private readonly turn: Turn;
  private readonly counters: { bytesOut: number };
  private readonly owner: OutputOwner;
  private readonly bytesMax: number;
  private readonly stallBytes: number;
  private readonly deliverWithinMs: number;
  private socketBytes = 0;
  private averageBytes = firstDeliveryBytes;
  private scheduled = false;
  private isFullOfBodies = false;
  /** There are deliveries in `writer`. */
  private delivers = false;
  private writes = 0;
  private written = 0;
  /** A buffer that the socket still reads, and the write it went out with. */
  private lent: Uint8Array | null = null;
  private lentWrite = 0;

  constructor(socket: Socket, turn: Turn, counters: { bytesOut: number }, limits: OutputLimits, owner: OutputOwner) {
    this.socket = socket;
    this.turn = turn;
    this.counters = counters;
    this.owner = owner;
    this.bytesMax = limits.outputBytesMax;
    this.stallBytes = limits.outputBytesMax * outputStallFactor;
    this.deliverWithinMs = limits.deliverWithinMs;
  }

  /** Bytes that the client has not taken. */
  get pendingBytes(): number {
    const bytes = this.writer.length + this.socketBytes;
    return this.gathered.size === 0 ? bytes : bytes + this.gatheredBytes;
  }

  private get gatheredBytes(): number {
    let bytes = 0;
    for (const { length } of this.gathered) bytes += length;
    return bytes;
  }

  /** True: so much is pending that nothing more may be delivered or read. `OutputOwner.relieved` follows. */
  get overfull(): boolean {
    if (this.pendingBytes <= this.stallBytes) return false;
    this.congested = true;
    return true;
  }

  get windowMax(): number {
    return Math.floor(this.bytesMax / this.averageBytes / Math.max(1, this.consumerCount));
  }

  /** Something was written to `writer`. */
  touch(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    this.turn.add(Phase.output, this);
  }

  /** A delivery of `bytes` bytes was written to `writer`. */
  delivered(bytes: number): void {
    this.delivers = true;
    this.averageBytes += (bytes - this.averageBytes) * averageWeight;
    if (this.pendingBytes > this.bytesMax) this.congested = true;
    if (!this.scheduled) this.touch();
  }

  /** A part of a large message's body was written to `writer`. Returns whether there is room for more; if not, `roomForBodies` follows. */
  wrotePart(): boolean {
    if (!this.scheduled) this.touch();
    this.isFullOfBodies ||= this.writer.length + this.socketBytes > this.bytesMax;
    return !this.isFullOfBodies;
  }

  flush(): void {
    this.scheduled = false;
    this.owner.beforeFlush();
    // When one of them is done, this is called again.
    if (this.writer.length > 0 && this.writes - this.written < writesMax) this.write();
  }

  /** All that there is leaves now: the end is near. */
  flushLast(): void {
    this.owner.beforeFlush();
    if (this.writer.length > 0) this.write();
  }

  private write(): void {
    const bytes = this.writer.take();
    if (!this.socket.writable) return;
    if (this.delivers) {
      this.delivers = false;
      if (this.turn.age > this.deliverWithinMs) return this.owner.overdue();
    }
    this.active = true;
    this.counters.bytesOut += bytes.length;
    this.writes++;
    this.socket.write(bytes, this.onWritten);
    this.socketBytes = this.socket.writableLength;
    // Nothing pending: the kernel has it all, and the buffer is ours again.
    if (this.socketBytes === 0) {
      this.writer.recycle(bytes);
    } else if (this.lent === null) {
      this.lent = bytes;
      this.lentWrite = this.writes;
    }
  }

  /** Called now and then while the connection is idle: gives up large buffers. */
  trim(): void {
    const { writer } = this;
    // Twice: the writer keeps a spare.
    for (let i = 0; i < 2; i++) if (writer.length === 0 && writer.bytes.length > idleBufferBytesMax) writer.take();
  }

  private readonly onWritten = (error?: Error | null): void => {
    this.written++;
    this.socketBytes = this.socket.writableLength;
    if (this.lent !== null && this.written >= this.lentWrite) {
      this.writer.recycle(this.lent);
      this.lent = null;
    }
    if (error) return;
    if (this.writer.length > 0) this.touch();
    const hasRoom = this.writer.length + this.socketBytes < this.bytesMax / 2;
    if (this.isFullOfBodies && hasRoom) {
      this.isFullOfBodies = false;
      this.owner.roomForBodies();
    }
    if (this.congested && this.pendingBytes < this.bytesMax / 2) {
      this.congested = false;
      this.owner.relieved();
    }
  };
}

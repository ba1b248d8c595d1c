/**
 * A simulated TCP connection: two ends, one pipe each way. Bytes arrive in order, late, in pieces of any size, or glued
 * together; a blocked link holds them (TCP sends them again when the link is back); a broken one loses them.
 */
import type { ByteStream } from '../src/cluster/byte-stream.js';
import type { Context, EventLoop } from './event-loop.js';
import type { SimRandom } from './random.js';

/** The way from one host to another. Read at every departure and arrival, so faults act on what is under way, too. */
export interface Link {
  blocked: boolean;
  latencyMs: number;
  jitterMs: number;
  bytesPerMs: number;
  /** Changes what is sent; for faults that TCP does not have. */
  filter: ((bytes: Uint8Array) => Uint8Array) | undefined;
  /** Pipes to start again when the link is no longer blocked. */
  readonly stalled: Set<Pipe>;
}

/** What fits into the sockets' buffers; more stays with the writer as `pendingBytes`. */
const windowBytes = 256 * 1024;

interface Segment {
  bytes: Uint8Array;
  arrival: number;
}

/** One direction of a connection. */
export class Pipe {
  readonly link: Link;
  readonly from: SimStream;
  readonly to: SimStream;
  private readonly loop: EventLoop;
  private readonly random: SimRandom;
  private readonly segments: Segment[] = [];
  private lastArrival: number;
  private scheduled = false;
  /** Close after the last segment. */
  private finished = false;
  private broken = false;
  outstanding = 0;

  constructor(loop: EventLoop, random: SimRandom, link: Link, from: SimStream, to: SimStream, readyAt: number) {
    this.loop = loop;
    this.random = random;
    this.link = link;
    this.from = from;
    this.to = to;
    this.lastArrival = readyAt;
  }

  send(sent: Uint8Array): void {
    const link = this.link;
    const bytes = link.filter === undefined ? sent : link.filter(sent);
    if (bytes.length === 0) return;
    const earliest = this.loop.now + link.latencyMs + this.random.float() * link.jitterMs;
    this.lastArrival = Math.max(earliest, this.lastArrival) + bytes.length / link.bytesPerMs;
    this.segments.push({ bytes: bytes.slice(), arrival: this.lastArrival });
    this.outstanding += bytes.length;
    this.schedule();
  }

  /** The writer closed: the reader sees the end after the last byte. */
  finish(): void {
    this.finished = true;
    this.schedule();
  }

  /** The connection is lost: nothing that is under way arrives, after the first `keep` segments. */
  break(keep: number): void {
    if (keep < this.segments.length) this.segments.length = keep;
    if (keep === 0) this.broken = true;
  }

  get segmentCount(): number {
    return this.segments.length;
  }

  /** Called when the link is no longer blocked. */
  resume(): void {
    this.scheduled = false;
    this.lastArrival = Math.max(this.lastArrival, this.loop.now + this.link.latencyMs);
    this.schedule();
  }

  private schedule(): void {
    if (this.scheduled || this.broken) return;
    const head = this.segments[0];
    if (head === undefined && !this.finished) return;
    this.scheduled = true;
    const arrival = head === undefined ? Math.max(this.lastArrival, this.loop.now + this.link.latencyMs) : head.arrival;
    this.loop.at(arrival, this.to.context, this.arrive);
  }

  private readonly arrive = (): void => {
    if (this.broken) return;
    if (this.link.blocked) {
      this.link.stalled.add(this);
      return;
    }
    this.scheduled = false;
    const head = this.segments[0];
    if (head === undefined) {
      if (this.finished) this.to.closedByPeer();
      return;
    }
    const bytes = this.take(head);
    this.outstanding -= bytes.length;
    this.to.receive(bytes);
    this.from.drained(this.outstanding);
    this.schedule();
  };

  /** The next bytes to arrive: a segment, a piece of one, or several glued together. */
  private take(head: Segment): Uint8Array {
    const dice = this.random.float();
    if (dice < 0.1 && head.bytes.length > 1) {
      const cut = 1 + this.random.int(head.bytes.length - 1);
      const piece = head.bytes.subarray(0, cut);
      head.bytes = head.bytes.subarray(cut);
      head.arrival = this.loop.now + (dice < 0.05 ? 0 : 0.1);
      return piece;
    }
    this.segments.shift();
    let bytes = head.bytes;
    while (dice > 0.5 && this.segments.length > 0 && this.segments[0]!.arrival <= this.loop.now) {
      const next = this.segments.shift()!.bytes;
      const glued = new Uint8Array(bytes.length + next.length);
      glued.set(bytes);
      glued.set(next, bytes.length);
      bytes = glued;
    }
    return bytes;
  }
}

/** One end of a connection. */
export class SimStream implements ByteStream {
  onData: (bytes: Uint8Array) => void = () => {};
  onDrain: () => void = () => {};
  onClose: (error?: Error) => void = () => {};
  readonly context: Context;
  readonly remote: string;
  private readonly loop: EventLoop;
  private out!: Pipe;
  private over = false;
  private full = false;

  constructor(loop: EventLoop, context: Context, remote: string) {
    this.loop = loop;
    this.context = context;
    this.remote = remote;
  }

  attach(out: Pipe): void {
    this.out = out;
  }

  get pendingBytes(): number {
    return Math.max(0, this.out.outstanding - windowBytes);
  }

  get closed(): boolean {
    return this.over;
  }

  write(bytes: Uint8Array): boolean {
    if (this.over) return false;
    this.out.send(bytes);
    this.full = this.out.outstanding > windowBytes;
    return !this.full;
  }

  close(): void {
    if (this.over) return;
    this.over = true;
    this.out.finish();
    this.loop.after(0, this.context, () => this.onClose());
  }

  receive(bytes: Uint8Array): void {
    if (this.over) return;
    // The bytes are valid during the call only: whoever keeps a view finds garbage in it afterwards.
    this.onData(bytes);
    bytes.fill(0xdd);
  }

  drained(outstanding: number): void {
    if (!this.full || this.over || outstanding > windowBytes) return;
    this.full = false;
    this.loop.after(0, this.context, () => {
      if (!this.over) this.onDrain();
    });
  }

  closedByPeer(): void {
    this.end(undefined);
  }

  /** The connection breaks for this end: it is told once, with `error`. */
  end(error: Error | undefined): void {
    if (this.over) return;
    this.over = true;
    this.onClose(error);
  }
}

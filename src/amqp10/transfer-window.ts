/**
 * The session's flow of transfer frames to the client (§2.5.6): as many as its incoming window has room for. A delivery that needs more of
 * them than there is room goes out in part; the rest is kept and follows when the window opens. Nothing else overtakes it.
 */
import type { FrameWriter, TransferHead } from './codec/index.js';
import type { DeliveryLead } from './delivery-lead.js';
import { add, ahead } from './serial.js';

/** A delivery of which a part is out, or nothing yet. */
interface Rest {
  readonly head: TransferHead;
  readonly bytes: Uint8Array;
  at: number;
}

export class TransferWindow {
  /** The number of the next transfer frame. */
  nextId: number;
  private readonly frames: FrameWriter;
  private readonly output: { touch(): void };
  private readonly channel: number;
  private readonly firstId: number;
  /** Frames that the client takes. */
  private room: number;
  /** In the order in which they go out; mostly none. */
  private readonly rests: Rest[] = [];

  constructor(frames: FrameWriter, output: { touch(): void }, channel: number, firstId: number, room: number) {
    this.frames = frames;
    this.output = output;
    this.channel = channel;
    this.nextId = firstId;
    this.firstId = firstId;
    this.room = room;
  }

  get isOpen(): boolean {
    return this.room > 0 && this.rests.length === 0;
  }

  /** The client has told which frame it expects next (undefined: it has seen none), and how many it takes. */
  update(nextIncomingId: number | undefined, incomingWindow: number): void {
    this.room = Math.max(0, ahead(add(nextIncomingId ?? this.firstId, incomingWindow), this.nextId));
    if (incomingWindow > 0x7fff_ffff) this.room = 0x7fff_ffff;
    if (this.rests.length === 0) return;
    this.go();
    this.output.touch();
  }

  /** Sends a delivery, or its beginning; the rest follows. While not open, all of it is kept: a large message may have waited for its parts. */
  send(head: TransferHead, lead: DeliveryLead, bytes: Uint8Array, start: number, end: number): void {
    const { frames, channel } = this;
    const needed = frames.framesFor(lead.length + end - start);
    if (needed <= this.room && this.rests.length === 0) {
      frames.deliver(channel, head, lead.bytes, lead.length, bytes, start, end);
      this.sent(needed);
      return;
    }
    const whole = new Uint8Array(lead.length + end - start);
    whole.set(lead.bytes.subarray(0, lead.length));
    whole.set(bytes.subarray(start, end), lead.length);
    // The head is used again.
    this.rests.push({ head: { ...head }, bytes: whole, at: 0 });
    this.go();
  }

  /**
   * A link ends: what is left of its deliveries is not sent. Its detach says so; a transfer that is `aborted` (§2.7.5) would say the same, but
   * there are clients, rhea among them, that take it for the end of a whole delivery.
   */
  drop(handle: number): void {
    const { rests } = this;
    for (let i = rests.length - 1; i >= 0; i--) if (rests[i]!.head.handle === handle) rests.splice(i, 1);
    this.go();
  }

  private go(): void {
    const { frames, channel, rests } = this;
    while (this.room > 0 && rests.length > 0) {
      const rest = rests[0]!;
      rest.at = frames.deliverPart(channel, rest.head, rest.bytes, rest.at);
      this.sent(1);
      if (rest.at === rest.bytes.length) rests.shift();
    }
  }

  private sent(count: number): void {
    this.nextId = add(this.nextId, count);
    this.room -= count;
  }
}

/**
 * The session's flow of transfer frames to the client (§2.5.6): as many as its incoming window has room for, and no more in a turn than the
 * connection's output takes. A delivery that needs more of them than there is room goes out in part, and so does one whose payload comes in
 * pieces; the rest follows when there is room. Nothing else overtakes it.
 */
import type { FrameWriter, TransferHead } from './codec/index.js';
import type { DeliveryLead } from './delivery-lead.js';
import { add, ahead } from './serial.js';

/** Payloads above this go out frame by frame, as the output takes them. */
const wholeBytesMax = 256 * 1024;

/** A delivery of which a part is out, or nothing yet. */
interface Rest {
  readonly head: TransferHead;
  /** What is there of its payload; of the first `at` bytes are out. */
  readonly pieces: Uint8Array[];
  at: number;
  /** No more pieces are to come. */
  isComplete: boolean;
}

/** Where the frames go. */
export interface WindowOutput {
  touch(): void;
  /** A frame of a delivery that goes out in part was written. False: no more now; `goOn` follows. */
  wrotePart(): boolean;
}

/** A client that opens its window only when it has something to say would never do so within a delivery: it is asked. */
export type AskForRoom = () => void;

export class TransferWindow {
  /** The number of the next transfer frame. */
  nextId: number;
  private readonly frames: FrameWriter;
  private readonly output: WindowOutput;
  private readonly channel: number;
  private readonly firstId: number;
  /** Frames that the client takes. */
  private room: number;
  /** The output takes no more frames now. */
  private isHeldUp = false;
  /** In the order in which they go out; mostly none. */
  private readonly rests: Rest[] = [];

  private readonly askForRoom: AskForRoom;

  constructor(
    frames: FrameWriter,
    output: WindowOutput,
    channel: number,
    firstId: number,
    room: number,
    askForRoom: AskForRoom = () => {},
  ) {
    this.askForRoom = askForRoom;
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

  /** A delivery is out in part. */
  get isSending(): boolean {
    return this.rests.length > 0;
  }

  /** Everything that was given is out; of the last delivery more pieces may be to come. */
  get isIdle(): boolean {
    const { rests } = this;
    return rests.length === 0 || (rests.length === 1 && rests[0]!.pieces.length === 0);
  }

  /** The client has told which frame it expects next (undefined: it has seen none), and how many it takes. */
  update(nextIncomingId: number | undefined, incomingWindow: number): void {
    this.room = Math.max(0, ahead(add(nextIncomingId ?? this.firstId, incomingWindow), this.nextId));
    if (incomingWindow > 0x7fff_ffff) this.room = 0x7fff_ffff;
    this.go();
  }

  /** The output takes more again. */
  goOn(): void {
    this.isHeldUp = false;
    this.go();
  }

  /** Sends a delivery, or its beginning; the rest follows. */
  send(head: TransferHead, lead: DeliveryLead, bytes: Uint8Array, start: number, end: number): void {
    const { frames } = this;
    const size = lead.length + end - start;
    const needed = frames.framesFor(size, head);
    if (needed > this.room || this.rests.length > 0 || size > wholeBytesMax) {
      this.open(head, lead, bytes, start, end, true);
      return;
    }
    frames.deliver(this.channel, head, lead.bytes, lead.length, bytes, start, end);
    this.sent(needed);
  }

  /** Sends the beginning of a delivery whose payload goes on with what `add` gets. */
  begin(head: TransferHead, lead: DeliveryLead, bytes: Uint8Array, start: number, end: number): void {
    this.open(head, lead, bytes, start, end, false);
  }

  /** The next piece of the delivery that was begun last. What cannot go out now is copied. */
  add(bytes: Uint8Array, start: number, end: number, isLast: boolean): void {
    const rest = this.rests.at(-1)!;
    rest.isComplete = isLast;
    rest.pieces.push(bytes.subarray(start, end));
    this.go();
    keep(rest, rest.pieces.length - 1);
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

  private open(
    head: TransferHead,
    lead: DeliveryLead,
    bytes: Uint8Array,
    start: number,
    end: number,
    isComplete: boolean,
  ): void {
    // Lead and payload share the first frame.
    const split = Math.min(end, start + this.frames.payloadMaxOf(head) - lead.length);
    const first = new Uint8Array(lead.length + split - start);
    first.set(lead.bytes.subarray(0, lead.length));
    first.set(bytes.subarray(start, split), lead.length);
    const pieces = split < end ? [first, bytes.subarray(split, end)] : [first];
    // The head is used again.
    const rest = { head: { ...head }, pieces, at: 0, isComplete };
    this.rests.push(rest);
    this.go();
    if (split < end) keep(rest, pieces.length - 1);
  }

  private go(): void {
    const { frames, channel, rests } = this;
    while (this.room > 0 && !this.isHeldUp && rests.length > 0) {
      const rest = rests[0]!;
      const [piece] = rest.pieces;
      // More of it is to come.
      if (piece === undefined) return;
      const isLast = rest.isComplete && rest.pieces.length === 1;
      rest.at = frames.deliverPart(channel, rest.head, piece, rest.at, !isLast);
      this.sent(1);
      this.isHeldUp = !this.output.wrotePart();
      if (rest.at === piece.length) {
        rest.pieces.shift();
        rest.at = 0;
        if (isLast) rests.shift();
      }
      if (this.room === 0 && rests.length > 0) this.askForRoom();
    }
  }

  private sent(count: number): void {
    this.nextId = add(this.nextId, count);
    this.room -= count;
  }
}

/** A piece is a view of bytes that are somebody else's: what is left of it becomes a copy. */
function keep(rest: Rest, index: number): void {
  const piece = rest.pieces[index];
  if (piece === undefined) return;
  rest.pieces[index] = index === 0 ? piece.slice(rest.at) : piece.slice();
  if (index === 0) rest.at = 0;
}

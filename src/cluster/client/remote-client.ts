import { type Flushable, Phase, type Turn } from '../../base/turn.js';
import type { EnqueueView } from '../../log/record.js';
import type { GroupClientPort } from '../../model/group-port.js';
import type { TerminusAnswer } from '../../model/terminus/operations.js';
import type { Link } from '../link/link.js';
import { encodeText, FrameType, piecesMax, redeliveredBit, sendId, sendIdText, sendIdValue } from './frames.js';

/** Queues named in one frame of those that are too full: hardly ever there are more. */
const stopsMax = 65_536;

/**
 * A node's attachment as the service sees it when that node is another one: answers become frames. Confirms and settlements,
 * which are cumulative, leave once per turn; deliveries carry the message's record as it stands in the log.
 */
export class RemoteClient implements GroupClientPort, Flushable {
  readonly link: Link;
  readonly stopped: readonly number[] = [];
  private readonly group: number;
  private readonly attachment: number;
  private readonly turn: Turn;
  private toConfirm = -1;
  private inSync = 0;
  private toSettle = -1;
  private toReject: number[] = [];
  private dirty = false;
  private closed = false;

  constructor(link: Link, group: number, attachment: number, turn: Turn) {
    this.link = link;
    this.group = group;
    this.attachment = attachment;
    this.turn = turn;
  }

  get congested(): boolean {
    return this.link.congested;
  }

  /** Nothing more is sent: the attachment was replaced, or this node no longer leads. */
  close(): void {
    this.closed = true;
  }

  attached(epoch: number, taken: number): void {
    const out = this.link.beginFrame(FrameType.attached, this.group, 24);
    out.view.setUint32(out.offset, this.attachment, true);
    out.view.setUint32(out.offset + 4, 0, true);
    out.view.setFloat64(out.offset + 8, epoch, true);
    out.view.setFloat64(out.offset + 16, taken, true);
  }

  /** Publishes of other nodes wait at the service: they are on their way already. */
  wiringReached(): void {}

  confirmed(sequence: number, inSync: number): void {
    this.toConfirm = sequence;
    this.inSync = inSync;
    this.touch();
  }

  rejected(sequence: number): void {
    this.toReject.push(sequence);
    this.touch();
  }

  flow(incarnations: readonly number[], isStopped: boolean, isWhole: boolean): void {
    if (this.closed) return;
    // The first piece of a whole list says that it is one, even if nothing is in it.
    for (let from = 0; from === 0 || from < incarnations.length; from += stopsMax) {
      const piece = incarnations.slice(from, from + stopsMax);
      const out = this.link.beginFrame(FrameType.flow, this.group, 8 + piece.length * 8);
      out.view.setUint32(out.offset, this.attachment, true);
      out.view.setUint32(out.offset + 4, (isStopped ? 1 : 0) + (isWhole && from === 0 ? 2 : 0), true);
      for (const [i, incarnation] of piece.entries()) out.view.setFloat64(out.offset + 8 + i * 8, incarnation, true);
    }
  }

  settled(count: number): void {
    this.toSettle = count;
    this.touch();
  }

  deliver(
    subscriber: number,
    incarnation: number,
    _position: number,
    redelivered: boolean,
    message: EnqueueView,
    returns: number,
  ): void {
    if (this.closed) return;
    // What came back is redelivered.
    const isCounted = returns > 0;
    const head = isCounted ? 24 : 16;
    const type = isCounted ? FrameType.deliverCounted : FrameType.deliver;
    const out = this.link.beginFrame(type, this.group, head + message.length);
    out.view.setUint32(out.offset, this.attachment, true);
    out.view.setUint32(out.offset + 4, redelivered && !isCounted ? subscriber + redeliveredBit : subscriber, true);
    out.view.setFloat64(out.offset + 8, incarnation, true);
    if (isCounted) {
      out.view.setUint32(out.offset + 16, returns, true);
      out.view.setUint32(out.offset + 20, 0, true);
    }
    copyRecord(message, out.bytes, out.offset + head);
  }

  subscribed(subscriber: number, refusal: string): void {
    if (!this.closed) sendIdText(this.link, FrameType.subscribed, this.group, this.attachment, subscriber, refusal);
  }

  unsubscribed(subscriber: number): void {
    if (!this.closed) sendId(this.link, FrameType.unsubscribed, this.group, this.attachment, subscriber);
  }

  drained(subscriber: number): void {
    if (!this.closed) sendId(this.link, FrameType.drained, this.group, this.attachment, subscriber);
  }

  cancelled(subscriber: number, reason: string): void {
    if (!this.closed) sendIdText(this.link, FrameType.cancelled, this.group, this.attachment, subscriber, reason);
  }

  got(
    request: number,
    incarnation: number,
    _position: number,
    redelivered: boolean,
    remaining: number,
    message: EnqueueView,
    returns: number,
  ): void {
    if (this.closed) return;
    const out = this.link.beginFrame(FrameType.got, this.group, 24 + message.length);
    out.view.setUint32(out.offset, this.attachment, true);
    out.view.setUint32(out.offset + 4, request, true);
    out.view.setFloat64(out.offset + 8, incarnation, true);
    out.view.setUint32(out.offset + 16, remaining, true);
    out.view.setUint16(out.offset + 20, redelivered ? 1 : 0, true);
    out.view.setUint16(out.offset + 22, Math.min(returns, 0xffff), true);
    copyRecord(message, out.bytes, out.offset + 24);
  }

  gotNothing(request: number, refusal: string): void {
    if (!this.closed) sendIdText(this.link, FrameType.gotNothing, this.group, this.attachment, request, refusal);
  }

  counted(request: number, ready: number, unacknowledged: number, consumers: number): void {
    if (this.closed) return;
    const out = this.link.beginFrame(FrameType.counted, this.group, 32);
    out.view.setUint32(out.offset, this.attachment, true);
    out.view.setUint32(out.offset + 4, request, true);
    out.view.setFloat64(out.offset + 8, ready, true);
    out.view.setFloat64(out.offset + 16, unacknowledged, true);
    out.view.setFloat64(out.offset + 24, consumers, true);
  }

  purged(request: number, count: number, refusal: string): void {
    if (this.closed) return;
    const text = encodeText(refusal);
    const out = this.link.beginFrame(FrameType.purged, this.group, 16 + text.length);
    out.view.setUint32(out.offset, this.attachment, true);
    out.view.setUint32(out.offset + 4, request, true);
    out.view.setFloat64(out.offset + 8, count, true);
    out.bytes.set(text, out.offset + 16);
  }

  terminusAnswered(request: number, answer: TerminusAnswer): void {
    if (this.closed) return;
    sendIdText(this.link, FrameType.terminusAnswered, this.group, this.attachment, request, JSON.stringify(answer));
  }

  bodyPart(reader: number, index: number, bytes: Uint8Array, start: number, end: number): void {
    if (this.closed) return;
    const out = this.link.beginFrame(FrameType.bodyPart, this.group, 16 + end - start);
    out.view.setUint32(out.offset, this.attachment, true);
    out.view.setUint32(out.offset + 4, reader, true);
    out.view.setUint32(out.offset + 8, index, true);
    out.view.setUint32(out.offset + 12, 0, true);
    out.bytes.set(bytes.subarray(start, end), out.offset + 16);
  }

  bodyGone(reader: number): void {
    if (!this.closed) sendId(this.link, FrameType.bodyGone, this.group, this.attachment, reader);
  }

  flush(): void {
    this.dirty = false;
    if (this.closed) return;
    // Before they are confirmed.
    if (this.toReject.length > 0) this.sendRejected();
    if (this.toConfirm >= 0)
      sendIdValue(this.link, FrameType.confirmed, this.group, this.attachment, this.inSync, this.toConfirm);
    if (this.toSettle >= 0) sendIdValue(this.link, FrameType.settled, this.group, this.attachment, 0, this.toSettle);
    this.toConfirm = -1;
    this.toSettle = -1;
  }

  private sendRejected(): void {
    const sequences = this.toReject;
    this.toReject = [];
    for (let from = 0; from < sequences.length; from += piecesMax) {
      const piece = sequences.slice(from, from + piecesMax);
      const out = this.link.beginFrame(FrameType.rejected, this.group, 8 + piece.length * 8);
      out.view.setUint32(out.offset, this.attachment, true);
      out.view.setUint32(out.offset + 4, 0, true);
      for (const [i, sequence] of piece.entries()) out.view.setFloat64(out.offset + 8 + i * 8, sequence, true);
    }
  }

  private touch(): void {
    if (this.dirty || this.closed) return;
    this.dirty = true;
    this.turn.add(Phase.log, this);
  }
}

function copyRecord(message: EnqueueView, to: Uint8Array, at: number): void {
  to.set(message.bytes.subarray(message.start, message.start + message.length), at);
}

import { argumentsToJson } from '../../model/wiring/arguments.js';
import { Feature } from '../../base/versions.js';
import type { BodyId } from '../../log/large.js';
import type { HeldMessage, SubscribeOptions } from '../../model/group-port.js';
import type { TerminusOperation } from '../../model/terminus/operations.js';
import type { DeadLettering } from '../../model/queue/queue-traits.js';
import { isUnit } from '../../model/unit.js';
import type { Link } from '../link/link.js';
import {
  encodeText,
  FrameType,
  heldBytes,
  piecesMax,
  putBody,
  sendBody,
  sendId,
  sendIdValue,
  sendQuestion,
  settlementBytes,
} from './frames.js';
import type { PublishOutbox } from './publish-outbox.js';
import { Settlement, type SettlementRing } from './settlement-ring.js';
import type { ServiceControl, Tie } from './tie.js';

/** An attachment to a primary on another node: calls become frames on the link to it. */
export class RemoteTie implements Tie, ServiceControl {
  readonly number: number;
  readonly epoch: number;
  readonly link: Link;
  readonly direct = undefined;
  /** As the primary has answered; one that does not say so may have taken all. */
  taken: number = Number.POSITIVE_INFINITY;
  private readonly group: number;
  private readonly touch: () => void;
  /** Credit granted in this turn, by subscriber. */
  private readonly grants = new Map<number, number>();

  /** `touch` makes the client call `send` at the end of the turn. */
  constructor(link: Link, group: number, number: number, epoch: number, touch: () => void) {
    this.link = link;
    this.group = group;
    this.number = number;
    this.epoch = epoch;
    this.touch = touch;
  }

  get port(): ServiceControl {
    return this;
  }

  /** Asks the primary for the attachment. Nothing else may be sent before it answered. */
  attach(held: readonly HeldMessage[], confirmed: number): void {
    let from = 0;
    do {
      const to = Math.min(held.length, from + piecesMax);
      const out = this.link.beginFrame(FrameType.attach, this.group, 24 + (to - from) * heldBytes);
      let at = out.offset;
      out.view.setUint32(at, this.number, true);
      out.view.setUint32(at + 4, to === held.length ? 1 : 0, true);
      out.view.setFloat64(at + 8, this.epoch, true);
      out.view.setFloat64(at + 16, confirmed, true);
      at += 24;
      for (; from < to; from++, at += heldBytes) {
        const message = held[from]!;
        out.view.setFloat64(at, message.incarnation, true);
        out.view.setFloat64(at + 8, message.position, true);
        out.view.setUint32(at + 16, message.naming, true);
      }
    } while (from < held.length);
  }

  send(outbox: PublishOutbox, settlements: SettlementRing, wiringVersion: number): void {
    outbox.send(this.takesMore, (bytes, _view, start, end) => {
      const [type, version] = isUnit(bytes, start)
        ? [FrameType.transact, Feature.transactions]
        : [FrameType.publish, undefined];
      const out = this.link.beginFrame(type, this.group, 16 + end - start, version);
      out.view.setUint32(out.offset, this.number, true);
      out.view.setUint32(out.offset + 4, 0, true);
      out.view.setFloat64(out.offset + 8, wiringVersion, true);
      out.bytes.set(bytes.subarray(start, end), out.offset + 16);
    });
    while (settlements.sent < settlements.end)
      if (settlements.kind(settlements.sent) === Settlement.modify) this.sendModify(settlements);
      else this.sendSettlements(settlements);
    if (this.grants.size === 0) return;
    for (const [subscriber, count] of this.grants)
      sendIdValue(this.link, FrameType.grant, this.group, this.number, subscriber, count);
    this.grants.clear();
  }

  subscribe(subscriber: number, incarnation: number, wiringVersion: number, options: SubscribeOptions): void {
    // In its credit already.
    this.grants.delete(subscriber);
    const { credit, ...rest } = options;
    const json = encodeText(JSON.stringify({ ...rest, arguments: argumentsToJson(options.arguments) }));
    const out = this.link.beginFrame(FrameType.subscribe, this.group, 32 + json.length);
    out.view.setUint32(out.offset, this.number, true);
    out.view.setUint32(out.offset + 4, subscriber, true);
    out.view.setFloat64(out.offset + 8, incarnation, true);
    out.view.setFloat64(out.offset + 16, wiringVersion, true);
    out.view.setFloat64(out.offset + 24, credit, true);
    out.bytes.set(json, out.offset + 32);
  }

  grant(subscriber: number, count: number): void {
    this.grants.set(subscriber, (this.grants.get(subscriber) ?? 0) + count);
    this.touch();
  }

  browseFrom(subscriber: number, position: number): void {
    sendIdValue(this.link, FrameType.browseFrom, this.group, this.number, subscriber, position);
  }

  drain(subscriber: number): void {
    const count = this.grants.get(subscriber);
    if (count !== undefined) sendIdValue(this.link, FrameType.grant, this.group, this.number, subscriber, count);
    this.grants.delete(subscriber);
    sendId(this.link, FrameType.drain, this.group, this.number, subscriber);
  }

  unsubscribe(subscriber: number): void {
    this.grants.delete(subscriber);
    sendId(this.link, FrameType.unsubscribe, this.group, this.number, subscriber);
  }

  get(request: number, incarnation: number, wiringVersion: number, noAck: boolean): void {
    const out = this.link.beginFrame(FrameType.get, this.group, 25);
    out.view.setUint32(out.offset, this.number, true);
    out.view.setUint32(out.offset + 4, request, true);
    out.view.setFloat64(out.offset + 8, incarnation, true);
    out.view.setFloat64(out.offset + 16, wiringVersion, true);
    out.bytes[out.offset + 24] = noAck ? 1 : 0;
  }

  count(request: number, incarnation: number, wiringVersion: number, isUse: boolean): void {
    sendQuestion(this.link, FrameType.count, this.group, this.number, request, incarnation, wiringVersion, isUse);
  }

  purge(request: number, incarnation: number, wiringVersion: number, to?: DeadLettering): void {
    const where = to === undefined ? undefined : encodeText(JSON.stringify(to));
    sendQuestion(
      this.link,
      FrameType.purge,
      this.group,
      this.number,
      request,
      incarnation,
      wiringVersion,
      false,
      where,
    );
  }

  terminus(request: number, incarnation: number, wiringVersion: number, operation: TerminusOperation): void {
    const text = encodeText(JSON.stringify(operation));
    const { link, group, number } = this;
    sendQuestion(link, FrameType.terminus, group, number, request, incarnation, wiringVersion, false, text);
  }

  readBody(reader: number, id: BodyId, from: number, count: number): void {
    const out = this.link.beginFrame(FrameType.bodyRead, this.group, 32);
    out.view.setUint32(out.offset, this.number, true);
    out.view.setUint32(out.offset + 4, reader, true);
    putBody(out, id);
    out.view.setUint32(out.offset + 12, from, true);
    out.view.setUint32(out.offset + 24, count, true);
    out.view.setUint32(out.offset + 28, 0, true);
  }

  holdBody(id: BodyId): void {
    sendBody(this.link, FrameType.bodyHold, this.group, this.number, id);
  }

  openUploads(last: number, open: ReadonlyMap<number, number>): void {
    const out = this.link.beginFrame(FrameType.openUploads, this.group, 16 + 16 * open.size);
    out.view.setUint32(out.offset, this.number, true);
    out.view.setUint32(out.offset + 4, 0, true);
    out.view.setFloat64(out.offset + 8, last, true);
    let at = out.offset + 16;
    for (const [upload, sequence] of open) {
      out.view.setFloat64(at, upload, true);
      out.view.setFloat64(at + 8, sequence, true);
      at += 16;
    }
  }

  doneWithBody(id: BodyId): void {
    sendBody(this.link, FrameType.bodyDone, this.group, this.number, id);
  }

  private readonly takesMore = (): boolean => !this.link.congested;

  private sendModify(settlements: SettlementRing): void {
    const number = settlements.sent++;
    const { isCounted, annotations } = settlements.modification(number);
    const out = this.link.beginFrame(FrameType.modify, this.group, 24 + annotations.length, Feature.annotations);
    out.view.setUint32(out.offset, this.number, true);
    out.view.setUint32(out.offset + 4, isCounted ? 1 : 0, true);
    out.view.setFloat64(out.offset + 8, settlements.incarnation(number), true);
    out.view.setFloat64(out.offset + 16, settlements.position(number), true);
    out.bytes.set(annotations, out.offset + 24);
  }

  private sendSettlements(settlements: SettlementRing): void {
    const most = Math.min(settlements.end - settlements.sent, piecesMax);
    let count = 1;
    while (count < most && settlements.kind(settlements.sent + count) !== Settlement.modify) count++;
    const out = this.link.beginFrame(FrameType.settle, this.group, 4 + count * settlementBytes);
    out.view.setUint32(out.offset, this.number, true);
    let at = out.offset + 4;
    for (let i = 0; i < count; i++, at += settlementBytes) {
      const number = settlements.sent++;
      out.bytes[at] = settlements.kind(number);
      out.view.setFloat64(at + 1, settlements.incarnation(number), true);
      out.view.setFloat64(at + 9, settlements.position(number), true);
    }
  }
}

/**
 * An attachment as its client sees it: the way to the service of one primary in one epoch. On the primary's own node the
 * calls are direct; elsewhere they are frames on the link (remote-tie.ts).
 */
import { EnqueueView, enqueueHeaderBytes, MessageParts, RecordFlag } from '../../log/record.js';
import type { GroupServicePort } from '../../model/group-port.js';
import { isUnit } from '../../model/unit.js';
import { FrameError } from '../link/frame.js';
import type { PublishOutbox } from './publish-outbox.js';
import { Settlement, type SettlementRing } from './settlement-ring.js';

/** What is asked of the service call by call; publishes and settlements are gathered. */
export type ServiceControl = Omit<
  GroupServicePort,
  'wiringVersion' | 'publish' | 'transact' | 'ack' | 'requeue' | 'reject' | 'modify'
>;

export interface Tie {
  /** Every call of this attachment carries it; a newer attachment has a higher one. */
  readonly number: number;
  readonly epoch: number;
  readonly port: ServiceControl;
  /** If publishes and settlements may go straight to the service: the service. */
  readonly direct: GroupServicePort | undefined;
  /** Sends what is not sent yet, as far as the way takes it now. @param isAsked a question follows: it is not to come first */
  send(outbox: PublishOutbox, settlements: SettlementRing, wiringVersion: number, isAsked: boolean): void;
}

export class LocalTie implements Tie {
  readonly number: number;
  readonly epoch: number;
  readonly port: GroupServicePort;
  readonly direct: GroupServicePort;

  constructor(number: number, epoch: number, port: GroupServicePort) {
    this.number = number;
    this.epoch = epoch;
    this.port = port;
    this.direct = port;
  }

  send(outbox: PublishOutbox, settlements: SettlementRing, wiringVersion: number, isAsked: boolean): void {
    // What the service would let wait had better wait in the outbox, which the publish gate bounds; but a question waits with the service.
    if (isAsked || wiringVersion <= this.port.wiringVersion)
      outbox.send(always, (bytes, view, start, end) => {
        if (isUnit(bytes, start)) this.port.transact(bytes, view, start, wiringVersion);
        else publishRecords(this.port, bytes, view, start, end, wiringVersion);
      });
    while (settlements.sent < settlements.end) {
      const number = settlements.sent++;
      settle(this.port, settlements, number);
    }
  }
}

const always = (): boolean => true;

/** Tells the service what stands in the ring. */
export function settle(port: GroupServicePort, settlements: SettlementRing, number: number): void {
  const kind = settlements.kind(number);
  const incarnation = settlements.incarnation(number);
  const position = settlements.position(number);
  if (kind === Settlement.modify) port.modify(incarnation, position, settlements.modification(number));
  else settleAs(port, kind, incarnation, position);
}

/** Tells the service what a client said of a message it held, if that is all. */
export function settleAs(port: GroupServicePort, kind: Settlement, incarnation: number, position: number): void {
  switch (kind) {
    case Settlement.ack:
      port.ack(incarnation, position);
      break;
    case Settlement.requeue:
      port.requeue(incarnation, position, true);
      break;
    case Settlement.putBack:
      port.requeue(incarnation, position, true, false);
      break;
    case Settlement.release:
      port.requeue(incarnation, position, false);
      break;
    case Settlement.reject:
      port.reject(incarnation, position);
      break;
  }
}

const record = new EnqueueView();
const parts = new MessageParts();
const incarnations: number[] = [];

/**
 * Publishes the enqueue records in bytes [start, end), in order. They are copied by the service. Throws a FrameError if they do
 * not end there.
 */
export function publishRecords(
  port: GroupServicePort,
  bytes: Uint8Array,
  view: DataView,
  start: number,
  end: number,
  wiringVersion: number,
): void {
  for (let at = start; at < end; at += record.length) {
    if (end - at < enqueueHeaderBytes) throw new FrameError('a publish is cut short');
    record.set(bytes, view, at);
    if (record.bodyStart + record.bodyLength !== at + record.length || at + record.length > end)
      throw new FrameError('a publish is cut short, or too long');
    parts.setFrom(record);
    if (incarnations.length !== record.queueCount) incarnations.length = record.queueCount;
    for (let i = 0; i < record.queueCount; i++) incarnations[i] = record.incarnation(i);
    const durable = (record.flags & RecordFlag.durable) !== 0;
    port.publish(parts, incarnations, durable, record.publisherSequence, wiringVersion);
  }
}

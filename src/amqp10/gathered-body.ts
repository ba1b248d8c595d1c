import { EnqueueView, RecordFlag } from '../log/record.js';
import type { BodySink, BodySource, Subscription } from '../model/broker.js';
import type { OutgoingLink } from './outgoing-link.js';

/** Parts of a body that are asked for ahead. */
const partsAhead = 4;

/** A large message that a link is to have: it goes out when all of it has come. Until then nothing else goes out on that link. */
export class GatheredBody implements BodySink {
  readonly subscription: Subscription;
  readonly position: number;
  readonly redelivered: boolean;
  readonly returns: number;
  private readonly record: Uint8Array;
  private readonly source: BodySource;
  private readonly done: (gathered: GatheredBody, reason: string) => void;
  private at: number;

  /** @param done with '' when all has come, or why it never does. May be called from within `begin`. */
  constructor(
    subscription: Subscription,
    position: number,
    redelivered: boolean,
    message: EnqueueView,
    returns: number,
    source: BodySource,
    done: (gathered: GatheredBody, reason: string) => void,
  ) {
    this.subscription = subscription;
    this.position = position;
    this.redelivered = redelivered;
    this.returns = returns;
    this.source = source;
    this.done = done;
    this.at = message.bodyStart - message.start;
    this.record = new Uint8Array(this.at + source.size);
    this.record.set(message.bytes.subarray(message.start, message.bodyStart));
    const view = new DataView(this.record.buffer);
    view.setUint32(0, this.record.length, true);
    view.setUint32(20, source.size, true);
    this.record[5]! &= ~RecordFlag.large;
  }

  get link(): OutgoingLink {
    return this.subscription.cookie as OutgoingLink;
  }

  begin(): void {
    this.source.read(this, partsAhead);
  }

  /** As a record that has its body. */
  message(): EnqueueView {
    return new EnqueueView().set(this.record, new DataView(this.record.buffer), 0);
  }

  /** It is not wanted any more. */
  close(): void {
    this.source.close();
  }

  part(bytes: Uint8Array, start: number, end: number, isLast: boolean): void {
    this.record.set(bytes.subarray(start, end), this.at);
    this.at += end - start;
    if (isLast) this.done(this, '');
    else this.source.more();
  }

  lost(reason: string): void {
    this.done(this, reason);
  }
}

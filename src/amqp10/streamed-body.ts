import type { BodySink, BodySource, Subscription } from '../model/broker.js';
import type { OutgoingLink } from './outgoing-link.js';

/** Parts of a body that are asked for ahead. */
const partsAhead = 4;

/** Takes a large message's body as it comes. */
export interface BodyTaker {
  tookPart(body: StreamedBody, bytes: Uint8Array, start: number, end: number, isLast: boolean): void;
  lostBody(body: StreamedBody, reason: string): void;
}

/** A large message that goes out on a link, part by part: no more is asked for than the client takes. */
export class StreamedBody implements BodySink {
  readonly subscription: Subscription;
  readonly position: number;
  /** All parts have come. */
  isComplete = false;
  private readonly source: BodySource;
  private readonly taker: BodyTaker;
  /** Parts that have come, and for which no others were asked for. */
  private owed = 0;

  constructor(subscription: Subscription, position: number, source: BodySource, taker: BodyTaker) {
    this.subscription = subscription;
    this.position = position;
    this.source = source;
    this.taker = taker;
  }

  get link(): OutgoingLink {
    return this.subscription.cookie as OutgoingLink;
  }

  begin(): void {
    this.source.read(this, partsAhead);
  }

  /** What has come is out. */
  goOn(): void {
    while (this.owed > 0) {
      this.owed--;
      this.source.more();
    }
  }

  /** It is not wanted any more. */
  close(): void {
    this.source.close();
  }

  part(bytes: Uint8Array, start: number, end: number, isLast: boolean): void {
    this.isComplete = isLast;
    this.owed++;
    this.taker.tookPart(this, bytes, start, end, isLast);
  }

  lost(reason: string): void {
    this.taker.lostBody(this, reason);
  }
}

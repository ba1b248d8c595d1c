import { absent, Attach, Flow, type FlowView } from '../codec/index.js';
import { Link, LinkState } from '../link.js';
import { add, creditLeft } from '../serial.js';
import type { SessionHost } from '../session-host.js';
import { pairProperties } from './pair-properties.js';

/** What it needs of its session. */
export interface AnswersHost extends SessionHost {
  /** Session and output take deliveries. */
  readonly hasRoom: boolean;
  /** A message of the broker's own, settled. */
  sendOwn(ownHandle: number, payload: Uint8Array): void;
}

/** Told when an answer has left. */
export interface AnswerOwner {
  answered(): void;
}

const settled = 1;

/** The link of a pair on which answers go to the client. They wait here for its credit: as many as the other link lets be asked. */
export class AnswersLink extends Link {
  private readonly session: AnswersHost;
  private credit = 0;
  private deliveryCount = 0;
  private readonly waiting: { payload: Uint8Array; owner: AnswerOwner }[] = [];

  constructor(host: AnswersHost, request: Attach, ownHandle: number) {
    super(host, request, ownHandle);
    this.session = host;
  }

  attach(): void {
    const reply = this.reply();
    reply.initialDeliveryCount = 0;
    reply.sndSettleMode = settled;
    reply.properties = pairProperties;
    this.attachedWith(reply);
  }

  flow(view: FlowView): void {
    if (this.state !== LinkState.attached) return;
    if (view.linkCredit !== absent) {
      const seen = view.deliveryCount === absent ? 0 : view.deliveryCount;
      this.credit = creditLeft(view.linkCredit, seen, this.deliveryCount);
    }
    this.replenish();
    if (view.drain && this.credit > 0) {
      this.deliveryCount = add(this.deliveryCount, this.credit);
      this.credit = 0;
      this.sendFlow(true);
    } else if (view.echo) this.sendFlow(false);
  }

  answer(payload: Uint8Array, owner: AnswerOwner): void {
    this.waiting.push({ payload, owner });
    this.replenish();
  }

  /** Sends what waits, as far as the client takes it. */
  override replenish(): void {
    while (this.credit > 0 && this.waiting.length > 0 && this.session.hasRoom && this.state === LinkState.attached) {
      const { payload, owner } = this.waiting.shift()!;
      this.session.sendOwn(this.ownHandle, payload);
      this.credit--;
      this.deliveryCount = add(this.deliveryCount, 1);
      owner.answered();
    }
  }

  protected release(): void {
    // Those who wait have their places back: another link of that name may take their next answers.
    const owners = this.waiting.splice(0).map(({ owner }) => owner);
    queueMicrotask(() => owners.forEach((owner) => owner.answered()));
  }

  private sendFlow(drain: boolean): void {
    const flow = new Flow();
    flow.handle = this.ownHandle;
    flow.deliveryCount = this.deliveryCount;
    flow.linkCredit = this.credit;
    flow.available = this.waiting.length;
    flow.drain = drain;
    this.session.sendFlow(flow);
  }
}

/**
 * The link of a pair on which requests come. They are done one after the other, in the order in which they came; each holds a place of the link's
 * window until its answer has left, so that a client that takes no answers cannot ask on.
 */
import { absent, type Attach, Condition, Flow, type TransferView } from '../codec/index.js';
import { describeFault, isFault, LinkError, SessionError } from '../errors.js';
import { Link, LinkState } from '../link.js';
import { PublishOutcome } from '../outcome-ledger.js';
import { add } from '../serial.js';
import type { SessionHost } from '../session-host.js';
import type { AnswerOwner, AnswersLink } from './answers-link.js';
import { type Answer, perform, refusalOf } from './operations.js';
import { pairProperties } from './pair-properties.js';
import { readRequest, type Request, writeAnswer } from './request.js';

/** Requests that may be under way. */
const window = 16;
/** Bytes of one: the arguments of a queue have fewer. */
const requestBytesMax = 1024 * 1024;
const settleFirst = 0;
const nothing = Buffer.alloc(0);
const untold = { publishSettled(): void {} };

/** What it needs of its session. */
export interface RequestsHost extends SessionHost {
  /** See `pairOf`. */
  answersOf(name: string): AnswersLink | undefined;
  fail(error: SessionError): void;
}

export class RequestsLink extends Link implements AnswerOwner {
  private readonly session: RequestsHost;
  private credit = window;
  private deliveryCount = 0;
  /** Requests whose answers have not left. */
  private open = 0;
  private gathered: Buffer = nothing;
  private inDelivery = false;
  private deliveryId = 0;
  private settled = false;
  private last: Promise<void> = Promise.resolve();

  constructor(host: RequestsHost, request: Attach, ownHandle: number) {
    super(host, request, ownHandle);
    this.session = host;
  }

  attach(): void {
    this.deliveryCount = this.request.initialDeliveryCount ?? 0;
    const reply = this.reply();
    reply.rcvSettleMode = settleFirst;
    reply.maxMessageSize = requestBytesMax;
    reply.properties = pairProperties;
    if (this.attachedWith(reply)) this.sendFlow();
  }

  flow(deliveryCount: number, echo: boolean): void {
    if (this.state !== LinkState.attached) return;
    if (deliveryCount !== absent && !this.inDelivery) this.deliveryCount = deliveryCount;
    if (echo) this.sendFlow();
  }

  /** A frame of a request. Throws LinkError. */
  transfer(view: TransferView): void {
    if (this.state !== LinkState.attached) return;
    if (!this.inDelivery) {
      if (view.deliveryId === absent)
        throw new LinkError(Condition.invalidField, 'the first transfer of a delivery has no delivery-id');
      if (this.credit === 0) throw new LinkError(Condition.linkTransferLimitExceeded, 'a transfer without credit');
      this.inDelivery = true;
      this.deliveryId = view.deliveryId;
      this.settled = false;
    }
    this.settled ||= view.settled;
    if (!view.aborted) this.gather(view);
    if (view.more && !view.aborted) return;
    const request = this.gathered;
    this.gathered = nothing;
    this.inDelivery = false;
    this.credit--;
    this.deliveryCount = add(this.deliveryCount, 1);
    if (!view.aborted) return this.received(request);
    this.host.partials.remove(request.length);
    this.topUp();
  }

  /** An answer has left. */
  answered(): void {
    this.open--;
    this.topUp();
  }

  protected release(): void {
    this.host.partials.remove(this.gathered.length);
    this.gathered = nothing;
  }

  private gather({ bytes, payloadStart, payloadEnd }: TransferView): void {
    if (this.gathered.length + payloadEnd - payloadStart > requestBytesMax)
      throw new LinkError(Condition.linkMessageSizeExceeded, `a request of more than ${requestBytesMax} bytes`);
    this.gathered = Buffer.concat([this.gathered, bytes.subarray(payloadStart, payloadEnd)]);
    this.host.partials.add(payloadEnd - payloadStart);
  }

  /** Its bytes count as held until it is done. */
  private received(bytes: Uint8Array): void {
    const done = (): void => this.host.partials.remove(bytes.length);
    const answers = this.session.answersOf(this.name);
    try {
      if (answers === undefined)
        throw new LinkError(Condition.preconditionFailed, `there is no link '${this.name}' on which answers could go`);
      const request = requestIn(bytes);
      this.open++;
      this.last = this.last.then(() => this.perform(request, answers)).finally(done);
    } catch (error) {
      done();
      throw error;
    }
    if (!this.settled) this.host.ledger.answer(this.deliveryId, untold, PublishOutcome.accepted);
  }

  private async perform(request: Request, answers: AnswersLink): Promise<void> {
    if (this.state !== LinkState.attached) return;
    const { status, body } = await this.answerTo(request);
    if (answers.state === LinkState.attached) answers.answer(writeAnswer(request.id, status, body), this);
    else this.answered();
  }

  private async answerTo(request: Request): Promise<Answer> {
    const { session } = this;
    const { method, to } = request;
    try {
      return await perform(session, request);
    } catch (error) {
      if (error instanceof SessionError) session.fail(error);
      const refusal = refusalOf(error);
      if (refusal !== undefined) {
        session.logger.info('a request was refused', { method, to, status: refusal.status, reason: refusal.body });
        return refusal;
      }
      if (isFault(error)) session.logger.error('a request failed', { method, to, error: describeFault(error) });
      return { status: '500', body: 'the broker failed to do this; its log says why' };
    }
  }

  private topUp(): void {
    const free = window - this.open;
    if (this.state !== LinkState.attached || this.credit * 2 > free) return;
    this.credit = Math.max(this.credit, free);
    this.sendFlow();
  }

  private sendFlow(): void {
    const flow = new Flow();
    flow.handle = this.ownHandle;
    flow.deliveryCount = this.deliveryCount;
    flow.linkCredit = this.credit;
    this.host.sendFlow(flow);
  }
}

/** Throws LinkError. */
function requestIn(bytes: Uint8Array): Request {
  const plain = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
  try {
    return readRequest(plain, 0, plain.length);
  } catch (error) {
    if (error instanceof LinkError) throw error;
    throw new LinkError(Condition.decodeError, (error as Error).message);
  }
}

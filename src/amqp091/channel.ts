/**
 * One channel: the order of a client's requests.
 *
 * Methods are answered in the order in which they came. One that the broker must answer (a declaration, a consume, a get)
 * makes the channel wait; frames behind it queue up, bounded, and take effect after it. Everything else is done at once.
 *
 *   open ──channel.close──────────────────────────► closed
 *   open ──error: we send channel.close──► closing ──close-ok──► closed     (closing: frames are discarded)
 */
import { Backlog } from './backlog.js';
import type { ChannelHost } from './channel-host.js';
import type { ChannelOutput } from './channel-output.js';
import {
  AckView,
  ChannelClose,
  ChannelCloseOk,
  decodeMethod,
  Frame,
  type Method,
  MethodId,
  methodIdAt,
  ProtocolError,
} from './codec/index.js';
import { Deliveries } from './deliveries.js';
import { describeFault, isFault, toProtocolError } from './errors.js';
import { consumeStarted, settle } from './handlers/basic.js';
import { handleMethod } from './handlers/handlers.js';
import { Pause } from '../socket/input-gate.js';
import { Publisher } from './publisher.js';
import { Outcome } from '../model/unacked.js';

export const ChannelState = { open: 'open', closing: 'closing', closed: 'closed' } as const;
export type ChannelState = (typeof ChannelState)[keyof typeof ChannelState];

/** All channels share it: an ack is used up before the next is decoded. */
const ackView = new AckView();

export class Channel {
  readonly number: number;
  readonly host: ChannelHost;
  readonly out: ChannelOutput;
  readonly deliveries: Deliveries;
  readonly publisher: Publisher;
  state: ChannelState = ChannelState.open;
  /** What an empty queue name means (§1.7.2.1): the queue last declared here; '' if none was. */
  lastQueue = '';
  /** basic.qos for consumers to come; 0 = no limit. */
  prefetch = 0;
  /** A method waits for the broker's answer. */
  private waiting = false;
  /** Does not answer `idle` while it passes on what has queued. */
  private draining = false;
  private readonly backlog: Backlog = new Backlog();
  private holdsInput = false;
  /** The method being handled, or that was last: what an error is blamed on. */
  private methodId = 0;

  constructor(host: ChannelHost, number: number, out: ChannelOutput) {
    this.host = host;
    this.number = number;
    this.out = out;
    this.publisher = new Publisher(
      host,
      number,
      out,
      (error) => this.fail(error),
      () => this.deliveries.replies?.address?.text,
    );
    this.deliveries = new Deliveries(host, number, out, (consumer) => consumeStarted(this, consumer));
  }

  /** Nothing waits for the broker, nothing is queued. */
  get idle(): boolean {
    return !this.waiting && !this.draining && this.backlog.isEmpty;
  }

  // Frames, payload [start, end)

  method(bytes: Uint8Array, start: number, end: number): void {
    if (this.mustQueue) this.queue(Frame.method, bytes, start, end);
    else this.handle(Frame.method, bytes, start, end);
  }

  header(bytes: Uint8Array, start: number, end: number): void {
    if (this.mustQueue) this.queue(Frame.header, bytes, start, end);
    else this.handle(Frame.header, bytes, start, end);
  }

  body(bytes: Uint8Array, start: number, end: number): void {
    if (this.mustQueue) this.queue(Frame.body, bytes, start, end);
    else this.handle(Frame.body, bytes, start, end);
  }

  // For handlers

  /** Answers with a method, unless the client said it does not wait. */
  reply(method: Method, noWait = false): void {
    if (noWait) return;
    this.out.frames.method(this.number, method);
    this.host.output.touch();
  }

  /**
   * Everything behind this method waits until the broker has answered. A refusal ends the channel or the connection.
   * `tooLate` takes the result instead if the channel has ended meanwhile.
   */
  await<T>(work: Promise<T>, answered: (result: T) => void, tooLate: (result: T) => void = () => {}): void {
    this.wait();
    work.then(
      (result) =>
        this.answer(
          () => answered(result),
          () => tooLate(result),
        ),
      (error: unknown) => this.answer(() => this.fail(error)),
    );
  }

  /** Like `await`, for answers that come by call: `answer` ends the wait. */
  wait(): void {
    this.waiting = true;
  }

  /** The broker has answered: `act` on it (or `tooLate`, if the channel has ended), and go on with what queued up. */
  answer(act: () => void, tooLate: () => void = () => {}): void {
    this.waiting = false;
    if (this.state === ChannelState.open) {
      this.guard(act);
    } else {
      tooLate();
      this.host.answeredTooLate();
    }
    this.drain();
  }

  /** Ends the channel, or the connection, with what `error` means to the client. */
  fail(error: unknown): void {
    if (this.state !== ChannelState.open) return;
    const { host, methodId } = this;
    if (isFault(error)) host.logger.error('a request failed', { method: methodId, error: describeFault(error) });
    const known = toProtocolError(error);
    const blamed = new ProtocolError(known.code, known.message, known.methodId || methodId);
    if (blamed.hard) {
      host.fail(blamed);
      return;
    }
    host.counters.channelErrors++;
    this.state = ChannelState.closing;
    this.release();
    const { methodId: id } = blamed;
    this.reply(new ChannelClose(blamed.code, blamed.replyText, id >>> 16, id & 0xffff));
  }

  /** The client closes the channel. */
  closeByClient(): void {
    this.release();
    this.reply(new ChannelCloseOk());
    this.end();
  }

  /** The connection is gone or going: no more output. */
  dispose(): void {
    if (this.state === ChannelState.closed) return;
    this.state = ChannelState.closed;
    this.release();
  }

  /** Goes on with what has queued up, as far as that is possible. */
  drain(): void {
    if (this.draining) return;
    this.draining = true;
    while (!this.backlog.isEmpty && !this.waiting && !this.host.holdsBacklogs) this.shiftBacklog();
    this.draining = false;
    if (this.holdsInput && this.backlog.size * 2 < this.host.limits.backlogBytesMax) {
      this.holdsInput = false;
      this.host.input.unpause(Pause.backlog);
    }
    if (this.idle) this.host.channelIdle();
  }

  private get mustQueue(): boolean {
    return this.waiting || !this.backlog.isEmpty;
  }

  private queue(type: number, bytes: Uint8Array, start: number, end: number): void {
    const { host, backlog } = this;
    const before = backlog.size;
    backlog.push(type, bytes, start, end);
    host.backlogs.changed(backlog.size - before);
    if (this.holdsInput || backlog.size < host.limits.backlogBytesMax) return;
    this.holdsInput = true;
    host.input.pause(Pause.backlog);
  }

  private shiftBacklog(): void {
    const before = this.backlog.size;
    this.backlog.shift(this.handleQueued);
    this.host.backlogs.changed(this.backlog.size - before);
  }

  private readonly handleQueued = (type: number, bytes: Uint8Array, start: number, end: number): void => {
    // Behind the channel's close: for the next channel with this number.
    if (this.state === ChannelState.closed) this.host.dispatch(this.number, type, bytes, start, end);
    else this.handle(type, bytes, start, end);
  };

  private handle(type: number, bytes: Uint8Array, start: number, end: number): void {
    if (this.state !== ChannelState.open) {
      this.discard(type, bytes, start, end);
      return;
    }
    try {
      if (type === Frame.header) this.publisher.onHeader(bytes, start, end);
      else if (type === Frame.body) this.publisher.onBody(bytes, start, end);
      else this.handleMethodFrame(bytes, start, end);
    } catch (error) {
      this.fail(error);
    }
  }

  private handleMethodFrame(bytes: Uint8Array, start: number, end: number): void {
    if (this.publisher.inContent) throw this.publisher.unexpectedMethod();
    const id = methodIdAt(bytes, start, end);
    this.methodId = id;
    if (id === MethodId.basicPublish) {
      this.publisher.onPublish(bytes, start, end);
    } else if (id === MethodId.basicAck) {
      ackView.set(bytes, start, end);
      settle(this, ackView.deliveryTag, ackView.multiple, Outcome.ack);
    } else {
      handleMethod(this, decodeMethod(bytes, start, end));
    }
  }

  /** We have sent channel.close: nothing counts until it is answered. Both sides may close at once. */
  private discard(type: number, bytes: Uint8Array, start: number, end: number): void {
    if (type !== Frame.method || end - start < 4) return;
    const id = methodIdAt(bytes, start, end);
    if (id === MethodId.channelCloseOk) this.end();
    else if (id === MethodId.channelClose) this.reply(new ChannelCloseOk());
  }

  private guard(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.fail(error);
    }
  }

  private release(): void {
    this.publisher.close();
    this.deliveries.close();
  }

  private end(): void {
    this.state = ChannelState.closed;
    this.host.channelClosed(this.number);
  }
}

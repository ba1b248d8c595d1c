/** A raw connection for cases: single methods and what is answered, right or wrong. */
import assert from 'node:assert/strict';
import {
  BasicAck,
  type BasicProperties,
  ChannelCloseOk,
  ConfirmSelect,
  ConnectionCloseOk,
  type Method,
  MethodId,
  methodName,
  QueueDeclare,
} from '../../src/amqp091/codec/index.js';
import type { Arguments } from '../../src/model/broker.js';
import { RawClient, type Received } from '../support/raw-client.js';
import type { Session } from './session.js';

export interface WireOptions {
  capabilities?: Arguments;
  frameMax?: number;
}

/** A channel or connection that the broker closed. */
export interface Refused {
  of: 'channel' | 'connection';
  code: number;
  text: string;
  classId: number;
  methodId: number;
}

export class Wire {
  readonly raw: RawClient;
  readonly session: Session;

  private constructor(raw: RawClient, session: Session) {
    this.raw = raw;
    this.session = session;
  }

  static async open(session: Session, options: WireOptions): Promise<Wire> {
    const raw = await RawClient.open(session.target.port, options);
    raw.patienceMs = session.patienceMs;
    await raw.openChannel(1);
    return new Wire(raw, session);
  }

  send(method: Method, channel = 1): void {
    this.raw.send(channel, method);
  }

  /** Sends, and returns what is answered, which must be `id`. */
  async call<Id extends Method['id']>(
    method: Method,
    id: Id,
    channel = 1,
  ): Promise<Received & { method: Extract<Method, { id: Id }> }> {
    this.send(method, channel);
    return this.raw.expect(id, channel);
  }

  /** A durable queue with a name of this case's. */
  async queue(args: Arguments = {}, name: string = this.session.name()): Promise<string> {
    const declare = new QueueDeclare(name, false, true, false, false, false, {
      ...this.session.queueArguments,
      ...args,
    });
    const { method } = await this.call(declare, MethodId.queueDeclareOk);
    return method.queue;
  }

  async selectConfirms(): Promise<void> {
    await this.call(new ConfirmSelect(false), MethodId.confirmSelectOk);
  }

  publish(
    exchange: string,
    key: string,
    body: string | Uint8Array = '',
    set: Partial<BasicProperties> = {},
    mandatory = false,
  ): void {
    this.raw.publish(1, exchange, key, body, set, mandatory);
  }

  ack(deliveryTag: number, multiple = false): void {
    this.send(new BasicAck(deliveryTag, multiple));
  }

  /** Waits for the confirms of `count` publishes, one ack or several, in whatever order. */
  async confirmed(count: number): Promise<void> {
    let upTo = 0;
    const single = new Set<number>();
    while (upTo + single.size < count) {
      const { deliveryTag, multiple } = (await this.raw.expect(MethodId.basicAck, 1)).method;
      if (!multiple) single.add(deliveryTag);
      else upTo = Math.max(upTo, deliveryTag);
      for (const tag of single) if (tag <= upTo) single.delete(tag);
    }
  }

  /** The close by which the broker answers `methods`, which is answered in turn. Whatever comes before is skipped. */
  async refusal(methods: Method | readonly Method[], channel = 1): Promise<Refused> {
    for (const method of [methods].flat() as Method[]) this.send(method, channel);
    return this.closing();
  }

  /** The next close from the broker. */
  async closing(): Promise<Refused> {
    for (;;) {
      const received = await this.raw.next();
      const { method } = received;
      if (method?.id !== MethodId.channelClose && method?.id !== MethodId.connectionClose) continue;
      const ofChannel = method.id === MethodId.channelClose;
      this.raw.send(received.channel, ofChannel ? new ChannelCloseOk() : new ConnectionCloseOk());
      const { replyCode: code, replyText: text, classId, methodId } = method;
      return { of: ofChannel ? 'channel' : 'connection', code, text, classId, methodId };
    }
  }

  /** The connection still works: another channel opens, and a passive declaration is answered. */
  async works(channel = 77): Promise<void> {
    await this.raw.openChannel(channel);
    const declare = new QueueDeclare('', false, false, true, true, false, {});
    await this.call(declare, MethodId.queueDeclareOk, channel);
  }

  /** Channel 1 works: nothing but the answer to a question comes. */
  async channelWorks(): Promise<void> {
    await this.call(new QueueDeclare('', false, false, true, true, false, {}), MethodId.queueDeclareOk);
  }

  end(): void {
    this.raw.end();
  }
}

/** Codes of classes and methods are those of the method that is to blame (§1.4.2.10, §1.5.2.5). */
export function assertBlamed(refused: Refused, id: number): void {
  const blamed = refused.classId * 0x10000 + refused.methodId;
  assert.equal(blamed, id, `${methodName(blamed as never) ?? blamed} is blamed for ${methodName(id as never)}`);
}

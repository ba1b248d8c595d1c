/** A broker node on a real event loop with its disk in memory. */
import { opaqueHeaders } from '../../../src/model/dead-letter/death.js';
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../src/base/clock.js';
import { silentLogger } from '../../../src/base/logger.js';
import type { Random } from '../../../src/base/random.js';
import { Turn } from '../../../src/base/turn.js';
import { fullSlices } from '../../../src/base/slices.js';
import { BrokerNode } from '../../../src/broker-node.js';
import type { BrokerOptions, BrokerPorts } from '../../../src/broker-options.js';
import type { EnqueueView } from '../../../src/log/record.js';
import { MessageParts } from '../../../src/log/record.js';
import type { Broker, DeliverySink, PublishOwner, Subscription } from '../../../src/model/broker.js';
import { MemoryDisk } from '../../../src/store/memory-disk.js';

export const realClock: Clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return { cancel: () => clearTimeout(timer) };
  },
  every(periodMs, run) {
    const timer = setInterval(run, periodMs);
    return { cancel: () => clearInterval(timer) };
  },
};

export const realRandom: Random = {
  float: () => Math.random(),
  int: (below) => Math.floor(Math.random() * below),
  hex: (length) =>
    randomBytes(Math.ceil(length / 2))
      .toString('hex')
      .slice(0, length),
};

export function makeNode(
  options: Partial<BrokerOptions> & { node: string },
  ports: Partial<BrokerPorts> = {},
): BrokerNode {
  return new BrokerNode(
    {
      clock: realClock,
      turn: new Turn((run) => void setImmediate(run)),
      random: realRandom,
      logger: silentLogger,
      disk: new MemoryDisk(),
      slices: fullSlices((run) => setImmediate(run)),
      cluster: undefined,
      headers: opaqueHeaders,
      ...ports,
    },
    options,
  );
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A publisher that counts what is safe. */
export class TestPublisher implements PublishOwner {
  readonly left: Map<number, number> = new Map();
  private tag = 0;
  private readonly broker: Broker;
  private waiters: (() => void)[] = [];

  constructor(broker: Broker) {
    this.broker = broker;
  }

  publish(queue: string, body: string, persistent = true): void {
    const meta = new Uint8Array([0, queue.length, ...encoder.encode(queue)]);
    const parts = new MessageParts();
    parts.persistent = persistent;
    parts.metaBytes = meta;
    parts.metaLength = meta.length;
    parts.headerBytes = new Uint8Array([0, 0]);
    parts.headerLength = 2;
    parts.bodyBytes = encoder.encode(body);
    parts.bodyLength = parts.bodyBytes.length;
    const tag = ++this.tag;
    const route = this.broker.route('/', '', queue, () => ({}));
    const count = this.broker.publish(route, parts, this, tag);
    if (count > 0) this.left.set(tag, count);
  }

  refused(tag: number): void {
    throw new Error(`publish ${tag} was refused`);
  }

  completed(tag: number): void {
    const left = this.left.get(tag)! - 1;
    if (left === 0) this.left.delete(tag);
    else this.left.set(tag, left);
    if (this.left.size === 0) for (const waiter of this.waiters.splice(0)) waiter();
  }

  async confirmed(): Promise<void> {
    if (this.left.size > 0) await new Promise<void>((resolve) => this.waiters.push(resolve));
  }
}

export interface Delivery {
  body: string;
  position: number;
  redelivered: boolean;
}

/** A consumer that keeps what it got; acks at once if asked to. */
export class TestSink implements DeliverySink {
  readonly deliveries: Delivery[] = [];
  readonly held: Set<number> = new Set();
  subscription: Subscription | undefined;
  autoAck = false;
  private waiters: { count: number; resolve: () => void }[] = [];

  deliver(subscription: Subscription, position: number, redelivered: boolean, message: EnqueueView): void {
    this.subscription = subscription;
    const { bytes, bodyStart, bodyLength } = message;
    const body = decoder.decode(bytes.subarray(bodyStart, bodyStart + bodyLength));
    this.deliveries.push({ body, position, redelivered });
    if (this.autoAck) subscription.ack(position);
    else this.held.add(position);
    this.waiters = this.waiters.filter((waiter) => {
      if (this.deliveries.length < waiter.count) return true;
      waiter.resolve();
      return false;
    });
  }

  ack(position: number): void {
    this.held.delete(position);
    this.subscription!.ack(position);
  }

  cancelled(): void {}

  forEachHeld(visit: (holder: Subscription, position: number) => void): void {
    for (const position of this.held) visit(this.subscription!, position);
  }

  async received(count: number): Promise<void> {
    if (this.deliveries.length >= count) return;
    await new Promise<void>((resolve) => this.waiters.push({ count, resolve }));
  }
}

export function declare(broker: Broker, name: string, durable = true): Promise<unknown> {
  return broker.wiring.declareQueue({
    vhost: '/',
    name,
    passive: false,
    durable,
    exclusive: false,
    autoDelete: false,
    arguments: {},
    connection: 'test/1/1',
  });
}

export function consume(broker: Broker, queue: string, sink: TestSink, credit = 1000): Promise<Subscription> {
  return broker.consume({
    vhost: '/',
    queue,
    consumerTag: 'c',
    noAck: false,
    exclusive: false,
    arguments: {},
    connection: 'test/1/1',
    credit,
    sink,
    cookie: undefined,
  });
}

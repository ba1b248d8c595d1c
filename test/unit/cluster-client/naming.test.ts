import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { allRules } from '../../../src/base/rules.js';
import { Turn } from '../../../src/base/turn.js';
import { fullSlices } from '../../../src/base/slices.js';
import { attachSlice, GroupClient } from '../../../src/cluster/client/group-client.js';
import { OutboxMemory } from '../../../src/cluster/client/publish-outbox.js';
import { RemoteTie } from '../../../src/cluster/client/remote-tie.js';
import type { ClusterSubscription } from '../../../src/cluster/client/subscription.js';
import { LocalTie } from '../../../src/cluster/client/tie.js';
import { FrameType } from '../../../src/cluster/link/frame-types.js';
import type { Link } from '../../../src/cluster/link/link.js';
import { EnqueueView } from '../../../src/log/record.js';
import type { DeliverySink, Holder } from '../../../src/model/broker.js';
import type { GroupServicePort, HeldMessage } from '../../../src/model/group-port.js';

const queue = 7;
const ofEach = 100;
const sinkCount = 200;

/** A channel that holds messages of one subscription. */
class Sink implements DeliverySink {
  readonly held = new Map<number, Holder>();
  looked = 0;

  deliver(): void {}
  cancelled(): void {}
  forEachHeld(visit: (holder: Holder, position: number) => void): void {
    for (const [position, holder] of this.held) {
      this.looked++;
      visit(holder, position);
    }
  }
  settle(position: number, how: 'ack' | 'requeue'): void {
    this.held.get(position)![how](position);
    this.held.delete(position);
  }
}

/** A service that writes down what it is told. */
class Service {
  readonly wiringVersion = 0;
  readonly calls: string[] = [];
  readonly subscribed: number[] = [];

  subscribe(subscriber: number): void {
    this.subscribed.push(subscriber);
  }
  grant(): void {}
  unsubscribe(subscriber: number): void {
    this.calls.push(`unsubscribe ${subscriber}`);
  }
  ack(_queue: number, position: number): void {
    this.calls.push(`ack ${position}`);
  }
  requeue(_queue: number, position: number): void {
    this.calls.push(`requeue ${position}`);
  }
  get port(): GroupServicePort {
    return this as unknown as GroupServicePort;
  }
}

/** A link to a service that gives no consumer more than it is told. */
class CreditLink {
  congested = false;
  readonly credits = new Map<number, number>();
  private last: { type: number; view: DataView } | undefined;

  beginFrame(type: number, _group: number, length: number) {
    this.read();
    const bytes = new Uint8Array(length);
    this.last = { type, view: new DataView(bytes.buffer) };
    return { bytes, view: this.last.view, offset: 0 };
  }
  /** Reads the last frame, which is written by now. Credit for consumers that are not there yet counts for nothing. */
  read(): void {
    const { type, view } = this.last ?? { type: 0, view: new DataView(new ArrayBuffer(0)) };
    this.last = undefined;
    if (type !== FrameType.subscribe && type !== FrameType.grant) return;
    const subscriber = view.getUint32(4, true);
    if (type === FrameType.subscribe) this.credits.set(subscriber, view.getFloat64(24, true));
    else if (this.credits.has(subscriber))
      this.credits.set(subscriber, this.credits.get(subscriber)! + view.getFloat64(8, true));
  }
}

function setup() {
  const put: (() => void)[] = [];
  const client = new GroupClient(1, {
    boot: 1,
    turn: new Turn((run) => put.push(run)),
    slices: fullSlices((run) => put.push(run)),
    clock: { now: () => 0 } as never,
    rules: allRules,
    memory: new OutboxMemory(),
    leaseMs: 2000,
    wiringVersion: () => 0,
  });
  const sinks = Array.from({ length: sinkCount }, () => new Sink());
  const subscribe = (sink: Sink): void => {
    const request = { vhost: '/', queue: 'q', consumerTag: 'c', noAck: false, exclusive: false, arguments: {} };
    client.consume(queue, { ...request, sink, cookie: undefined, credit: ofEach } as never).catch(() => {});
  };
  for (const sink of sinks) subscribe(sink);
  const attach = (epoch: number, service: Service): { held: HeldMessage[][] } => {
    const held: HeldMessage[][] = [];
    client.beginAttachment((number, named) => {
      held.push([...named]);
      client.attached(new LocalTie(number, epoch, service.port));
    });
    return { held };
  };
  const runTurn = (): number => put.splice(0).filter((run) => (run(), true)).length;
  return { client, sinks, subscribe, attach, runTurn };
}

/** Everybody holds a hundred messages. */
function filled() {
  const all = setup();
  const { client, sinks, attach, runTurn } = all;
  const first = new Service();
  attach(1, first);
  while (runTurn() > 0);
  sinks.forEach((sink, i) => {
    client.deliver(first.subscribed[i]!, queue, 1000 + i * ofEach, false, new EnqueueView(), 0);
    for (let k = 0; k < ofEach; k++) sink.held.set(1000 + i * ofEach + k, holderOf(client, first.subscribed[i]!));
  });
  const looked = (): number => sinks.reduce((sum, sink) => sum + sink.looked, 0);
  return { ...all, looked };
}

function holderOf(client: GroupClient, number: number): Holder {
  const { subscriptions } = client as unknown as { subscriptions: Map<number, Holder> };
  return subscriptions.get(number)!;
}

describe('a node that holds much', () => {
  it('names it some thousand a turn, and says settlements that were made meanwhile', () => {
    const { sinks, attach, runTurn, looked } = filled();
    const service = new Service();
    const { held } = attach(2, service);
    const [first, last] = [sinks[0]!, sinks.at(-1)!];
    assert.deepEqual([first.looked, last.looked], [ofEach, 0]);
    first.settle(1000, 'ack');
    first.settle(1001, 'requeue');
    const late = 1000 + (sinkCount - 1) * ofEach;
    last.settle(late, 'ack');
    let turns = 0;
    for (; held.length === 0; turns++) {
      const before = looked();
      assert.ok(runTurn() > 0);
      assert.ok(looked() - before <= attachSlice + ofEach);
    }
    assert.ok(turns >= (sinkCount * ofEach) / attachSlice - 2);
    const named = new Set(held[0]!.map(({ position }) => position));
    assert.equal(named.size, sinkCount * ofEach, 'what was settled meanwhile is named too');
    while (runTurn() > 0);
    assert.deepEqual(service.calls, ['ack 1000', 'requeue 1001', `ack ${late}`]);
  });

  it('tells again of a message that was given back, given to it anew and acked, only that it is acked', () => {
    const { sinks, attach, runTurn } = filled();
    const lost = new Service();
    attach(2, lost);
    while (runTurn() > 0);
    const last = sinks.at(-1)!;
    const position = 1000 + (sinkCount - 1) * ofEach;
    const holder = last.held.get(position)!;
    last.settle(position, 'requeue');
    last.held.set(position, holder);
    const service = new Service();
    attach(2, service);
    assert.equal(last.looked, ofEach, 'it was not asked again yet');
    last.settle(position, 'ack');
    while (runTurn() > 0);
    assert.deepEqual(service.calls, [`ack ${position}`]);
  });

  it('gives back what a consumer held that was closed just before all was named', () => {
    const { sinks, attach, runTurn } = filled();
    const service = new Service();
    const { held } = attach(2, service);
    const last = sinks.at(-1)!;
    const holder = [...last.held.values()][0] as ClusterSubscription;
    const position = last.held.keys().next().value!;
    while (sinks.at(-Math.floor(attachSlice / ofEach))!.looked === 0) runTurn();
    // What it held is given back at the end of this turn, in which the last ones are named.
    holder.close();
    while (runTurn() > 0);
    assert.ok(held[0]!.some((message) => message.position === position));
    assert.ok(service.calls.includes(`requeue ${position}`));
  });

  it('stops when the attachment is over before it was asked for', () => {
    const { client, attach, runTurn } = filled();
    const { held } = attach(2, new Service());
    client.detached();
    while (runTurn() > 0);
    assert.deepEqual(held, []);
    const next = attach(3, new Service());
    while (runTurn() > 0);
    assert.equal(next.held[0]!.length, sinkCount * ofEach);
  });

  it('gives a consumer its credit once, though it is granted some before it is subscribed again', () => {
    const { client, subscribe, attach, runTurn } = setup();
    for (let i = 0; i < 10_000; i++) subscribe(new Sink());
    const service = new Service();
    attach(1, service);
    while (runTurn() > 0);
    for (const subscriber of service.subscribed) client.subscribed(subscriber, '');
    while (runTurn() > 0);
    const link = new CreditLink();
    client.beginAttachment((number) =>
      client.attached(new RemoteTie(link as unknown as Link, 1, number, 2, () => client.touch())),
    );
    const subscription = (number: number) => holderOf(client, number) as ClusterSubscription;
    while (client.attachment === undefined) runTurn();
    for (let number = attachSlice * 1.5; number < 10_000; number += attachSlice) {
      subscription(number).grant(1);
      runTurn();
    }
    while (runTurn() > 0);
    link.read();
    for (const [subscriber, credit] of link.credits) assert.equal(credit, subscription(subscriber).credit);
    assert.equal(link.credits.size, sinkCount + 10_000);
  });

  it('subscribes again some thousand a turn, and everybody once', () => {
    const { subscribe, attach, runTurn } = setup();
    for (let i = 0; i < 10_000; i++) subscribe(new Sink());
    const service = new Service();
    attach(1, service);
    assert.ok(service.subscribed.length <= attachSlice);
    for (let turns = 0, before = attachSlice; runTurn() > 0; turns++, before = service.subscribed.length) {
      assert.ok(service.subscribed.length - before <= attachSlice);
      if (turns === 2) subscribe(new Sink());
    }
    assert.equal(service.subscribed.length, sinkCount + 10_001);
    const inOrder = service.subscribed.toSorted((a, b) => a - b);
    assert.deepEqual(service.subscribed, inOrder, 'nobody takes an older one’s place');
    assert.equal(new Set(inOrder).size, sinkCount + 10_001);
  });
});

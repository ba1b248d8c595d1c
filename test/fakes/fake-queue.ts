import type { Turn } from '../../src/base/turn.js';
import { Phase } from '../../src/base/turn.js';
import { encodeEnqueue, enqueueLength, EnqueueView, type MessageParts, RecordFlag } from '../../src/log/record.js';
import type {
  ConsumeRequest,
  GetRequest,
  Holder,
  QueueDeclaration,
  QueueInfo,
  SettlementOwner,
  Subscription,
} from '../../src/model/broker.js';
import { deliveryCost } from '../../src/model/delivery-cost.js';

/** A message as a record of its own. */
export interface FakeMessage {
  position: number;
  redelivered: boolean;
  bytes: Uint8Array;
  view: DataView;
}

/** Copies the parts; `lsn` becomes the position. */
export function fakeMessage(parts: MessageParts, position: number): FakeMessage {
  const bytes = new Uint8Array(enqueueLength(parts, 1));
  const view = new DataView(bytes.buffer);
  encodeEnqueue(bytes, view, 0, parts, [1], (parts.persistent ? RecordFlag.persistent : 0) !== 0, 0, 0);
  return { position, redelivered: false, bytes, view };
}

const flyweight = new EnqueueView();

/** A queue in memory: ready messages by position, held ones by position, consumers served in turn. */
export class FakeQueue {
  readonly declaration: QueueDeclaration;
  readonly name: string;
  readonly subscriptions: FakeSubscription[] = [];
  readonly held: Map<number, FakeMessage> = new Map();
  /** Settlements whose owners are to be told when a test does so; undefined: at once. */
  unsafe: (() => void)[] | undefined = undefined;
  private readonly ready: FakeMessage[] = [];
  private first = 0;
  private readonly turn: Turn;
  private scheduled = false;
  private round = 0;

  constructor(declaration: QueueDeclaration, turn: Turn) {
    this.declaration = declaration;
    this.name = declaration.name;
    this.turn = turn;
  }

  get readyCount(): number {
    return this.ready.length - this.first;
  }

  info(): QueueInfo {
    return { name: this.name, messages: this.readyCount, consumers: this.subscriptions.length };
  }

  enqueue(message: FakeMessage): void {
    this.ready.push(message);
    this.wake();
  }

  /** Back to its place. */
  putBack(position: number, redelivered: boolean): void {
    const message = this.held.get(position);
    if (!message) return;
    this.held.delete(position);
    if (redelivered) message.redelivered = true;
    let at = this.first;
    while (at < this.ready.length && this.ready[at]!.position < position) at++;
    if (at === this.first && this.first > 0) this.ready[--this.first] = message;
    else this.ready.splice(at, 0, message);
    this.wake();
  }

  purge(): number {
    const count = this.readyCount;
    this.ready.length = 0;
    this.first = 0;
    return count;
  }

  get(request: GetRequest, holders: Set<FakeHolder>): void {
    const message = this.take();
    if (!message) {
      request.empty();
      return;
    }
    const holder = new FakeHolder(this);
    if (!request.noAck) {
      holders.add(holder);
      holder.positions.add(message.position);
      this.held.set(message.position, message);
    }
    flyweight.set(message.bytes, message.view, 0);
    request.got(flyweight, message.position, message.redelivered, this.readyCount, holder, 0);
  }

  wake(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    this.turn.add(Phase.log, this);
  }

  flush(): void {
    this.scheduled = false;
    let idle = 0;
    while (this.readyCount > 0 && idle < this.subscriptions.length) {
      const subscription = this.subscriptions[this.round++ % this.subscriptions.length]!;
      if (subscription.credit <= 0) {
        idle++;
        continue;
      }
      idle = 0;
      this.deliver(subscription, this.take()!);
    }
  }

  private deliver(subscription: FakeSubscription, message: FakeMessage): void {
    const { noAck } = subscription.request;
    flyweight.set(message.bytes, message.view, 0);
    subscription.credit -= deliveryCost(noAck, flyweight);
    if (!noAck) {
      this.held.set(message.position, message);
      subscription.positions.add(message.position);
    }
    subscription.request.sink.deliver(subscription, message.position, message.redelivered, flyweight, 0);
  }

  private take(): FakeMessage | undefined {
    if (this.first === this.ready.length) return undefined;
    const message = this.ready[this.first]!;
    this.first++;
    if (this.first > 1024 && this.first * 2 > this.ready.length) {
      this.ready.splice(0, this.first);
      this.first = 0;
    }
    return message;
  }
}

export class FakeHolder implements Holder {
  readonly positions: Set<number> = new Set();
  readonly queue: FakeQueue;

  constructor(queue: FakeQueue) {
    this.queue = queue;
  }

  ack(position: number): void {
    if (this.positions.delete(position)) this.queue.held.delete(position);
  }
  requeue(position: number): void {
    if (this.positions.delete(position)) this.queue.putBack(position, true);
  }
  reject(position: number): void {
    this.ack(position);
  }
  release(position: number): void {
    if (this.positions.delete(position)) this.queue.putBack(position, false);
  }
  putBack(position: number): void {
    this.requeue(position);
  }
  modify(position: number): void {
    this.requeue(position);
  }
  settleTold(position: number, rejects: boolean, owner: SettlementOwner, tag: number): void {
    if (rejects) this.reject(position);
    else this.ack(position);
    if (this.queue.unsafe === undefined) owner.settlementSafe(tag);
    else this.queue.unsafe.push(() => owner.settlementSafe(tag));
  }
  requeueAll(): void {
    for (const position of [...this.positions]) this.requeue(position);
  }
}

export class FakeSubscription extends FakeHolder implements Subscription {
  readonly request: ConsumeRequest;
  credit: number;

  constructor(queue: FakeQueue, request: ConsumeRequest) {
    super(queue);
    this.request = request;
    this.credit = request.credit;
    queue.subscriptions.push(this);
    queue.wake();
  }

  get cookie(): unknown {
    return this.request.cookie;
  }

  drain(): void {
    this.request.sink.drained?.(this);
  }

  grant(count: number): void {
    this.credit += count;
    this.queue.wake();
  }

  cancel(): Promise<void> {
    this.leave();
    return Promise.resolve();
  }

  close(): void {
    this.leave();
    this.requeueAll();
  }

  leave(): void {
    const index = this.queue.subscriptions.indexOf(this);
    if (index >= 0) this.queue.subscriptions.splice(index, 1);
  }
}

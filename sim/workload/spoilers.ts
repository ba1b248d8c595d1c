/** Clients that take messages away by other ways than consuming: purge, delete and declare again, get, queues that end. */
import type { Consumer, Session } from '../client/session.js';
import { Message, QueueLife, type DeliveryState } from '../history.js';
import type { SimWorld } from '../world.js';
import { Actor, QueueActor } from './actor.js';

/** Purges a queue from time to time. */
export class Purger extends QueueActor {
  async run(): Promise<void> {
    while (!this.stopping) {
      await this.sleep(300, 3000);
      const life = this.world.history.newestLife(this.queue)!;
      const before = life.publishExcuse;
      life.excuseAll('purged');
      life.publishExcuse = 'purged';
      const outcome = await this.insist(`purge ${this.queue}`, (session) =>
        session.broker.wiring.purgeQueue('/', this.queue, session.id),
      );
      // A purge without an answer may be carried out at any later time.
      if (!outcome.uncertain) life.publishExcuse = before;
    }
    this.disconnect();
  }
}

/** Deletes a queue and declares it again under the same name. */
export class Recycler extends QueueActor {
  private uncertain = false;

  async run(): Promise<void> {
    while (!this.stopping) {
      await this.sleep(200, 2500);
      await this.recycle();
    }
    this.disconnect();
  }

  private async recycle(): Promise<void> {
    const { history, loop } = this.world;
    const old = history.newestLife(this.queue)!;
    old.deletedFrom = loop.now;
    old.excuseAll('deleted');
    old.publishExcuse = 'deleted';
    const options = { ifUnused: false, ifEmpty: false };
    const deleted = await this.insist(`delete ${this.queue}`, (session) =>
      session.broker.wiring.deleteQueue('/', this.queue, { ...options, connection: session.id }),
    );
    this.uncertain ||= deleted.uncertain;
    old.deletedAt = loop.now;
    if (this.random.chance(0.5)) await this.sleep(1, 100);
    const next = new QueueLife(
      this.queue,
      old.life + 1,
      { durable: old.durable, exclusive: false, autoDelete: false },
      loop.now,
    );
    next.publishExcuse = 'not declared yet';
    history.queue(next);
    const declared = await this.insist(`declare ${this.queue}`, (session) =>
      session.broker.wiring.declareQueue({
        vhost: '/',
        name: this.queue,
        passive: false,
        durable: old.durable,
        exclusive: false,
        autoDelete: false,
        arguments: {},
        connection: session.id,
      }),
    );
    if (declared.kind === 'refused')
      this.world.fail('declarations', `declare ${this.queue}: ${declared.error.message}`);
    next.declaredAt = loop.now;
    // A deletion without an answer names the queue, not its life: it may come at any later time.
    next.publishExcuse = this.uncertain ? 'a deletion may come late' : '';
  }
}

/** Gets single messages. */
export class Getter extends QueueActor {
  private readonly sometimesWithoutAck: boolean;

  constructor(world: SimWorld, name: string, queue: string, sometimesWithoutAck: boolean) {
    super(world, name, queue);
    this.sometimesWithoutAck = sometimesWithoutAck;
  }

  async run(): Promise<void> {
    while (!this.stopping) {
      await this.sleep(20, 400);
      const connection = await this.connected();
      const noAck = this.sometimesWithoutAck && this.random.chance(0.5);
      const life = this.world.history.newestLife(this.queue);
      if (noAck && life !== undefined) life.atMostOnce = true;
      const consumer: Consumer = {
        id: this.world.nextConsumer++,
        queue: this.queue,
        noAck,
        life: life?.life ?? 0,
        subscription: undefined,
      };
      const outcome = await this.patiently(`get from ${this.queue}`, connection, connection.get(consumer));
      if (outcome.kind !== 'ok' || outcome.value === undefined || noAck) continue;
      const delivery = outcome.value;
      delivery.receivedAt = this.world.loop.now;
      const state: DeliveryState = this.random.chance(0.7)
        ? 'acked'
        : this.random.chance(0.8)
          ? 'requeued'
          : 'rejected';
      if (this.random.chance(0.1)) this.disconnect();
      else this.world.loop.after(this.random.between(0, 100), null, () => connection.settle(delivery, consumer, state));
    }
    this.disconnect();
  }
}

/** Lives with a queue of its own, exclusive or auto-delete, that must be gone when it has left. */
export class Loner extends Actor {
  private readonly exclusive: boolean;
  private count = 0;
  private number = 1;

  constructor(world: SimWorld, name: string, exclusive: boolean) {
    super(world, name);
    this.exclusive = exclusive;
    world.publisherNumber(name);
  }

  async run(): Promise<void> {
    while (!this.stopping) {
      await this.sleep(200, 3000);
      await this.episode(`${this.name}.${++this.count}`);
    }
    this.disconnect();
  }

  private async episode(queue: string): Promise<void> {
    const { history, loop } = this.world;
    const life = new QueueLife(
      queue,
      1,
      { durable: false, exclusive: this.exclusive, autoDelete: !this.exclusive },
      loop.now,
    );
    life.publishExcuse = 'lives with its client only';
    life.deletedFrom = loop.now;
    const connection = await this.connected();
    const consumer: Consumer = {
      id: this.world.nextConsumer++,
      queue,
      noAck: false,
      life: 1,
      subscription: undefined,
    };
    history.queue(life);
    const outcome = await this.patiently(
      `declare ${queue}`,
      connection,
      connection.request(async (session) => {
        await session.broker.wiring.declareQueue(this.declaration(queue, session));
        await session.consume(consumer, 10);
      }),
    );
    this.world.trace.add(this.name, `own queue ${queue}: ${outcome.kind}`);
    // A node that lost its lease counts as gone, and its clients' own queues with it; it may not know yet.
    if (outcome.kind === 'refused' && history.quiet)
      this.world.fail('declarations', `own queue ${queue}: ${outcome.error.message}`);
    if (outcome.kind !== 'ok') return;
    life.declaredAt = loop.now;
    for (let i = this.random.int(5); i > 0; i--) {
      const message = new Message(this.name, this.number++, false, [life]);
      history.message(message);
      const send = history.sent(message, connection.node.name);
      connection.publish([{ message, send, exchange: '', routingKey: queue, paddingBytes: 10 }]);
    }
    await this.sleep(20, 1500);
    life.leftInPeace = history.quiet;
    // An auto-delete queue goes with its last consumer, an exclusive one with its connection.
    if (!this.exclusive && this.random.chance(0.5)) await connection.request((session) => session.cancel(consumer));
    else this.disconnect();
  }

  override delivered(delivery: Parameters<Actor['delivered']>[0], consumer: Consumer): void {
    this.connection?.settle(delivery, consumer, 'acked');
  }

  private declaration(queue: string, session: Session): Parameters<Session['broker']['wiring']['declareQueue']>[0] {
    return {
      vhost: '/',
      name: queue,
      passive: false,
      durable: false,
      exclusive: this.exclusive,
      autoDelete: !this.exclusive,
      arguments: {},
      connection: session.id,
    };
  }
}

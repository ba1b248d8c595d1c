import type { Consumer } from '../client/session.js';
import { QueueLife } from '../history.js';
import type { SimWorld } from '../world.js';
import { Actor } from './actor.js';

/**
 * Lives with queues that go when they are not used for some time (`x-expires`): such a queue is there as long as it is used often
 * enough, and is gone some time after (checkers/wiring-equal.ts).
 */
export class Tenant extends Actor {
  private count = 0;

  constructor(world: SimWorld, name: string) {
    super(world, name);
  }

  async run(): Promise<void> {
    while (!this.stopping) {
      await this.sleep(100, 1500);
      await this.stay(`${this.name}.${++this.count}`);
    }
    this.disconnect();
  }

  private async stay(queue: string): Promise<void> {
    const { history, loop } = this.world;
    const unusedMs = this.random.pick([300, 600, 1500]);
    const life = new QueueLife(queue, 1, { durable: true, exclusive: false, autoDelete: false }, loop.now);
    life.publishExcuse = 'goes when it is not used';
    life.unusedMs = unusedMs;
    history.queue(life);
    const declaration = { vhost: '/', name: queue, passive: false, durable: true, exclusive: false, autoDelete: false };
    const declared = await this.insist(`declare ${queue}`, (session) =>
      session.broker.wiring.declareQueue({
        ...declaration,
        arguments: { 'x-expires': unusedMs },
        connection: session.id,
      }),
    );
    if (declared.kind === 'refused') this.world.fail('declarations', `declare ${queue}: ${declared.error.message}`);
    life.declaredAt = loop.now;
    let usedAt = life.declaredFrom;
    for (let i = this.random.int(6); i > 0 && usedAt >= 0 && !this.stopping; i--) {
      await this.sleep(0.2 * unusedMs, 0.7 * unusedMs);
      usedAt = await this.use(queue, usedAt, unusedMs);
    }
    life.isAbandoned = true;
  }

  /** Gets nothing from it, which was used at `usedAt`. Returns since when it counts as used now; -1 = it may be on its way to be deleted. */
  private async use(queue: string, usedAt: number, unusedMs: number): Promise<number> {
    const { loop, nextConsumer } = this.world;
    const connection = await this.connected();
    const consumer: Consumer = { id: nextConsumer, queue, noAck: false, life: 1, subscription: undefined };
    this.world.nextConsumer++;
    const askedAt = loop.now;
    const outcome = await this.patiently(`use ${queue}`, connection, connection.get(consumer));
    const inTime = loop.now < usedAt + unusedMs;
    if (outcome.kind === 'refused' && inTime)
      this.world.fail(
        'declarations',
        `${queue} was used ${(loop.now - usedAt).toFixed(1)} ms ago: ${outcome.error.message}`,
      );
    return outcome.kind === 'ok' && inTime ? askedAt : -1;
  }
}

import type { Definition } from '../../src/model/policy/definition.js';
import { QueueActor } from './actor.js';

const definitions: readonly Definition[] = [
  { replicate: 'none' },
  { replicate: 'all' },
  { replicas: 1 },
  { replicas: 2 },
  { replicas: 3 },
];

/** Has a queue moved from group to group, by a policy of its own. */
export class MovePolicies extends QueueActor {
  async run(): Promise<void> {
    while (!this.stopping) {
      await this.sleep(100, 2000);
      await this.move(this.random.pick(definitions));
    }
    this.disconnect();
  }

  /** In effect when this resolves; the queue moves then. */
  async move(definition: Definition): Promise<void> {
    const name = `${this.queue} is here`;
    const outcome = await this.insist(`policy ${JSON.stringify(definition)} for ${this.queue}`, (session) =>
      session.policies.set({
        vhost: '/',
        name,
        pattern: `^${this.queue}$`,
        priority: 100,
        applyTo: 'queues',
        definition,
      }),
    );
    if (outcome.kind === 'refused') this.world.fail('declarations', outcome.error.message);
  }
}

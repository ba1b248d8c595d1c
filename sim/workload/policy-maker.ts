import type { Definition } from '../../src/model/policy/definition.js';
import type { BookedPolicy } from '../settings-book.js';
import type { SimWorld } from '../world.js';
import { Actor } from './actor.js';

const patterns = ['^durable', '-2$', 'e'];

/** Sets and clears policies for the queues of the others, through any node. */
export class PolicyMaker extends Actor {
  /** In order of their priority, which is in their names. */
  private policies: readonly BookedPolicy[] = [];

  constructor(world: SimWorld, name: string) {
    super(world, name);
  }

  /** In effect when this resolves. */
  async set(policy: BookedPolicy, definition: Definition = this.minInSync(policy)): Promise<void> {
    await this.change(
      [policy, ...this.policies.filter(({ name }) => name !== policy.name)],
      `set policy ${policy.name}`,
      (session) => {
        const { name, pattern } = policy;
        const applyTo = this.random.pick(['queues', 'all'] as const);
        return session.policies.set({ vhost: '/', name, pattern, priority: priorityOf(name), applyTo, definition });
      },
    );
  }

  async run(): Promise<void> {
    while (!this.stopping) {
      await this.sleep(100, 1500);
      const name = `policy-${1 + this.random.int(3)}`;
      const dice = this.random.float();
      if (dice < 0.3) await this.relax();
      else if (dice < 0.5) await this.clear(name);
      else await this.set({ name, pattern: this.random.pick(patterns), minInSync: 1 + this.random.int(3) });
    }
    this.disconnect();
  }

  /** Changes how durable the queue `relaxed` is, if there is one. */
  private async relax(): Promise<void> {
    const confirm = this.random.pick(['synced', 'replicated']);
    await this.set({ name: 'policy-9', pattern: '^relaxed$' }, { confirm });
  }

  private async clear(name: string): Promise<void> {
    await this.change(
      this.policies.filter((policy) => policy.name !== name),
      `clear policy ${name}`,
      (session) => session.policies.clear('/', name),
    );
  }

  private async change(
    policies: readonly BookedPolicy[],
    what: string,
    work: Parameters<typeof this.insist>[1],
  ): Promise<void> {
    const ordered = [...policies].sort((a, b) => priorityOf(b.name) - priorityOf(a.name));
    const answered = this.world.settings.asked(this.world.loop.now, ordered);
    const outcome = await this.insist(what, work);
    const refused = outcome.kind === 'refused';
    answered(this.world.loop.now, { uncertain: outcome.uncertain, refused });
    if (!refused) this.policies = ordered;
    // A young cluster does not know yet that all of its nodes know policies.
    else if (!/speaks protocol version 1:/.test(outcome.error.message))
      this.world.fail('declarations', `${what}: ${outcome.error.message}`);
  }

  private minInSync({ minInSync = 1 }: BookedPolicy): Definition {
    const { random } = this;
    return {
      'min-in-sync': minInSync,
      ...(random.chance(0.2) ? { 'min-in-sync-below': 'refuse' } : {}),
      ...(random.chance(0.3) ? { 'min-in-sync-timeout': 200 + random.int(1000) } : {}),
    };
  }
}

function priorityOf(name: string): number {
  return Number(name.slice('policy-'.length));
}

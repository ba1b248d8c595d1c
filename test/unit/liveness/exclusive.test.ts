/**
 * The port's promise, whatever happens: of nodes that take over from each other by the order written in liveness.ts, never two
 * act at the same time, and nobody may depose a boot that relies on its promise. Random freezes, one-way cuts, delays, broken
 * connections, kills and restarts, clocks that drift, a coordinator that is slow and loses answers. No false refusals: those
 * cannot be closed (see heartbeats.ts).
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SimCoordinator } from '../../../sim/coordinator.js';
import { type Coordinator, OutcomeUnknownError } from '../../../src/cluster/coordinator/coordinator.js';
import type { Tenure } from '../../../src/cluster/liveness/liveness.js';
import type { HeartbeatTimes } from '../../../src/cluster/liveness/heartbeats.js';
import type { Rules } from '../../../src/base/rules.js';
import { type Replica, sameReplica } from '../../../src/cluster/map.js';
import { type TestNode, World } from '../link/world.js';

interface GroupOfOne {
  epoch: number;
  primary: Replica;
  inSync: Replica[];
}

/** The least of a replica: it takes over, shrinks and grows the set, and acts while its tenure holds. */
class Actor {
  readonly node: TestNode;
  private readonly coordinator: Coordinator;
  private record: { value: GroupOfOne; version: number } | undefined;
  private tenure: Tenure | undefined;
  private busy = false;

  constructor(node: TestNode, coordinator: Coordinator) {
    this.node = node;
    this.coordinator = coordinator;
    node.clock.every(15, () => {
      if (this.busy) return;
      this.busy = true;
      this.step()
        .catch(() => {}) // unavailable: once more
        .finally(() => {
          this.busy = false;
        });
    });
  }

  get acts(): boolean {
    return this.tenure?.holds() ?? false;
  }

  private get self(): Replica {
    return this.node.replica;
  }

  private others(members: readonly Replica[]): Replica[] {
    return members.filter((member) => !sameReplica(member, this.self));
  }

  private async step(): Promise<void> {
    const askedAt = this.node.clock.now();
    const entry = (await this.coordinator.read('group'))[0]!;
    this.record = { value: JSON.parse(entry.value) as GroupOfOne, version: entry.version };
    const { value } = this.record;
    for (const member of value.inSync) this.node.liveness!.learn(member);
    if (!sameReplica(value.primary, this.self)) {
      this.tenure?.end();
      this.tenure = undefined;
      await this.takeOver(value);
    } else {
      this.tenure ??= this.node.liveness!.tenure(this.others(value.inSync), askedAt);
      if (!this.tenure.holds()) this.tenure.cover(this.others(value.inSync), askedAt);
      await this.adjust(value);
    }
  }

  private async takeOver(value: GroupOfOne): Promise<void> {
    const liveness = this.node.liveness!;
    const entry = value.inSync.find((member) => member.node === this.self.node);
    const alone = value.inSync.every((other) => other === entry || liveness.mayDepose(other.node, other.boot));
    if (!entry || !(entry.boot === this.self.boot || alone)) return;
    const deposal = liveness.depose(value.primary.node, value.primary.boot);
    if (!deposal) return;
    const inSync = this.others(value.inSync).filter(
      ({ node }) => node !== value.primary.node && node !== this.self.node,
    );
    const askedAt = this.node.clock.now();
    const done = await this.swap({ epoch: value.epoch + 1, primary: this.self, inSync: [this.self, ...inSync] });
    deposal.end();
    if (done) this.tenure = liveness.tenure(inSync, askedAt);
  }

  /** Takes out who is gone, takes in who is there. */
  private async adjust(value: GroupOfOne): Promise<void> {
    const liveness = this.node.liveness!;
    const kept = value.inSync.filter(
      (member) => sameReplica(member, this.self) || !liveness.mayDepose(member.node, member.boot),
    );
    const present = [...this.node.links.all()].map((link) => link.peer);
    const added = present.find((peer) => !value.inSync.some((member) => member.node === peer.node));
    if (kept.length === value.inSync.length && !added) return;
    const inSync = kept.concat(
      kept.length === value.inSync.length && added ? { node: added.node, store: added.store, boot: added.boot } : [],
    );
    // Whoever is in either set could replace us until the answer is there.
    if (this.acts) this.tenure!.cover(this.others([...value.inSync, ...inSync]));
    const askedAt = this.node.clock.now();
    const done = await this.swap({ ...value, inSync });
    if (done && this.tenure) this.tenure.cover(this.others(inSync), askedAt);
  }

  /** True if it was made; insists until that is known. */
  private async swap(value: GroupOfOne): Promise<boolean> {
    const text = JSON.stringify(value);
    for (;;) {
      try {
        const result = await this.coordinator.swap([{ key: 'group', expect: this.record!.version, value: text }]);
        return result.ok || result.entries[0]!.value === text;
      } catch (error) {
        if (!(error instanceof OutcomeUnknownError))
          await new Promise<void>((resolve) => this.node.clock.after(20, resolve));
      }
    }
  }
}

interface Outcome {
  violation: string;
  epochs: number;
  actsAtEnd: boolean;
}

/** Looks every 5 ms whether two act, or whether somebody may be deposed who is relied on. */
class Watchman {
  violation = '';
  private readonly world: World;
  private readonly actors: Map<string, Actor>;

  constructor(world: World, actors: Map<string, Actor>) {
    this.world = world;
    this.actors = actors;
    this.check();
  }

  private check(): void {
    const { world } = this;
    const live = [...this.actors.values()];
    const acting = live.filter((actor) => actor.acts);
    if (acting.length > 1)
      this.violation ||= `${acting.map((actor) => actor.node.name).join(' and ')} act at ${world.loop.now}`;
    for (const a of acting) {
      for (const b of live) {
        const promised = a.node.liveness!.promisedUntil(b.node.name, b.node.replica.boot) > a.node.clock.now();
        if (a === b || !promised || !b.node.liveness!.mayDepose(a.node.name, a.node.replica.boot)) continue;
        this.violation ||= `${b.node.name} may depose ${a.node.name}, which relies on it, at ${world.loop.now}`;
      }
    }
    if (this.violation !== '') world.loop.stop();
    world.loop.after(5, null, () => this.check());
  }
}

/** One run: 25 s of faults, 10 s of peace. Stops at the first violation. */
async function run(seed: number, rules: Partial<Rules> = {}, times: Partial<HeartbeatTimes> = {}): Promise<Outcome> {
  const world = new World(seed);
  const random = world.random.fork('faults');
  const names = ['n1', 'n2', 'n3'];
  const coordinator = new SimCoordinator(world.loop, world.random.fork('coordinator'), {
    latencyMs: 1,
    watchDelayMs: 1,
  });
  const actors = new Map<string, Actor>();
  let epochs = 0;
  const start = (name: string): TestNode => {
    const node = world.node(name, { liveness: true, rate: random.between(0.98, 1.02), rules, times });
    actors.set(name, new Actor(node, coordinator.open(name, node.context)));
    world.introduce();
    return node;
  };
  const replicas = names.map((name) => start(name).replica);
  const setUp = coordinator.open('operator', world.loop.context('operator'));
  void setUp.swap([
    { key: 'group', expect: 0, value: JSON.stringify({ epoch: 1, primary: replicas[0]!, inSync: replicas }) },
  ]);
  coordinator.onChange = (entry) => {
    epochs = (JSON.parse(entry.value) as GroupOfOne).epoch;
  };

  const heal = (): void => {
    world.network.healAll();
    coordinator.heal();
    for (const { node } of actors.values()) node.thaw();
  };
  const faults: (() => void)[] = [
    () => random.pick([...actors.values()]).node.freeze(),
    () => world.network.block(random.pick(names), random.pick(names)),
    () => world.network.delay(random.pick(names), random.pick(names), random.between(0, 1500)),
    () => world.network.breakConnections(random.pick(names), random.pick(names), 500),
    () => {
      coordinator.slowness = random.pick([1, 50, 500]);
      coordinator.lostAnswers = random.pick([0, 0.5]);
    },
    () => {
      const name = random.pick([...actors.keys()]);
      actors.get(name)!.node.kill();
      actors.delete(name);
      world.loop.after(random.between(1, 3000), null, () => start(name));
    },
    heal,
  ];
  const peaceAt = 25_000;
  const fault = (): void => {
    if (world.loop.now > peaceAt) return heal();
    const victim = random.pick(faults);
    if (actors.size > 1 || victim === heal) victim();
    world.loop.after(random.between(50, 2500), null, fault);
  };
  world.loop.after(500, null, fault);

  const watchman = new Watchman(world, actors);
  await world.run(peaceAt + 10_000);
  return { violation: watchman.violation, epochs, actsAtEnd: [...actors.values()].some((actor) => actor.acts) };
}

const seeds = process.env['UNDERSTUDY_LONG_TESTS'] ? 2000 : 12;

test(`${seeds} seeds: never two act, and one does in the end`, async (context) => {
  let epochs = 0;
  for (let seed = 1; seed <= seeds; seed++) {
    const outcome = await run(seed);
    assert.equal(outcome.violation, '', `seed ${seed}`);
    assert.ok(outcome.actsAtEnd, `nobody acts in the end, seed ${seed}`);
    epochs += outcome.epochs;
  }
  assert.ok(epochs > seeds * 1.5, 'take-overs happen');
  context.diagnostic(`${epochs} epochs`);
});

/** Seeds until a violation is seen. */
async function seedsToCatch(rules: Partial<Rules>, times: Partial<HeartbeatTimes> = {}): Promise<number> {
  for (let seed = 1; seed <= 300; seed++) if ((await run(seed, rules, times)).violation !== '') return seed;
  return assert.fail('not caught within 300 seeds');
}

for (const [what, rules, times] of [
  ['validity counts from the sending of the renewal', { leaseFromSend: false }, {}],
  ['a live boot is not deposed', { liveNotDeposed: false }, {}],
  ['clocks drift: a margin is taken off', {}, { marginMs: 0 }],
] as const) {
  test(`without the rule it is caught: ${what}`, async (context) => {
    context.diagnostic(`seed ${await seedsToCatch(rules, times)}`);
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Lsn } from '../../../src/log/lsn.js';
import type { WiringObject } from '../../../src/model/wiring/objects.js';
import type { WiringAnswer, WiringOperation } from '../../../src/model/wiring/operations.js';
import { operationsMax, removeMax, type WiringLog, WiringSequencer } from '../../../src/model/wiring/sequencer.js';
import { WiringTables } from '../../../src/model/wiring/tables.js';
import { NaiveWiring } from './naive-wiring.js';
import { goneMax } from '../../../src/model/wiring/plan-node.js';
import {
  alice,
  bind,
  bindingObject,
  bob,
  declareExchange,
  declareQueue,
  deleteExchange,
  deleteQueue,
} from './support.js';

type Event = { lsn: Lsn; create?: WiringObject; remove?: readonly Lsn[]; durable?: boolean };

/** A system group in small: a log, its committed prefix in tables, and a sequencer on top. */
class System implements WiringLog {
  readonly tables: WiringTables = new WiringTables();
  events: Event[] = [];
  committed = 0;
  epoch = 1;
  /** Nodes that were said to be over are there again. */
  isBack = false;
  sequencer: WiringSequencer;

  constructor() {
    this.sequencer = this.elect();
  }

  private elect(inherited: Lsn = 0): WiringSequencer {
    return new WiringSequencer({
      tables: this.tables,
      log: this,
      inherited,
      replicasMax: () => 3,
      version: () => 2,
      chooseGroup: (queue) => (queue.owner === '' ? 1 : 9),
      isOver: () => !this.isBack,
      isAlone: false,
    });
  }

  private next(): Lsn {
    return this.epoch * 1000 + this.events.length;
  }

  create(object: WiringObject): Lsn {
    const lsn = this.next();
    this.events.push({ lsn, create: object });
    return lsn;
  }

  remove(positions: readonly Lsn[], durable: boolean): Lsn {
    const lsn = this.next();
    this.events.push({ lsn, remove: positions, durable });
    return lsn;
  }

  /** Commits up to `count` events, as one batch. */
  commit(count: number = this.events.length): void {
    const batch = this.events.slice(this.committed, this.committed + count);
    if (batch.length === 0) return;
    for (const event of batch) this.apply(event);
    this.committed += batch.length;
    const { lsn } = batch.at(-1)!;
    this.tables.applied(lsn);
    this.sequencer.committed(lsn);
  }

  /** The primary is lost with all but `kept` of its uncommitted events; the next one commits those first. */
  takeOver(kept: number): void {
    const end = this.inherit(kept);
    this.sequencer.committed(end);
  }

  /** The same, but others do not have what it committed yet. Returns the lsn up to which they must have it. */
  inherit(kept: number): Lsn {
    this.events.length = Math.min(this.events.length, this.committed + kept);
    this.sequencer.failed('the primary is gone');
    this.epoch++;
    this.commit();
    const end = this.events.at(-1)?.lsn ?? 0;
    this.sequencer = this.elect(end);
    return end;
  }

  private apply({ lsn, create, remove }: Event): void {
    if (create !== undefined) {
      assertFits(this.tables, create);
      this.tables.appeared(lsn, create);
    }
    for (const position of remove ?? []) {
      assert.ok(this.tables.at(position), `${position} is removed while it is there`);
      this.tables.gone(position);
    }
    if (remove !== undefined)
      assert.deepEqual(
        remove,
        [...remove].sort((a, b) => a - b),
      );
    assertSound(this.tables);
  }
}

function assertFits(tables: WiringTables, object: WiringObject): void {
  if (object.kind === 'queue') assert.equal(tables.queue(object.vhost, object.name), undefined, 'unique names');
  if (object.kind === 'exchange') assert.equal(tables.exchange(object.vhost, object.name), undefined, 'unique names');
}

/** Bindings connect what exists, and each but once. */
function assertSound(tables: WiringTables): void {
  const seen = new Set<string>();
  for (const object of tables.objects()) {
    if (object.kind !== 'binding') continue;
    const key = [object.source, object.destinationKind, object.destination, object.routingKey].join();
    assert.ok(!seen.has(key), `binding ${key} is there twice`);
    seen.add(key);
    assert.ok(tables.exchange('/', object.source), `source of ${key}`);
    const { destinationKind: kind, destination: to } = object;
    assert.ok(kind === 'queue' ? tables.queue('/', to) : tables.exchange('/', to), `destination of ${key}`);
  }
}

const name = fc.constantFrom('a', 'b', 'c');
const connection = fc.constantFrom(alice, bob);
const operation: fc.Arbitrary<WiringOperation> = fc.oneof(
  fc.tuple(name, fc.boolean(), fc.boolean()).map(([exchange, autoDelete, internal]) => {
    return declareExchange(exchange, 'fanout', { autoDelete, internal });
  }),
  fc.tuple(name, fc.boolean()).map(([exchange, ifUnused]) => deleteExchange(exchange, ifUnused)),
  fc
    .tuple(name, fc.boolean(), fc.boolean(), connection)
    .map(([queue, exclusive, passive, by]) => declareQueue(queue, { exclusive, passive, connection: by })),
  fc.tuple(name, connection).map(([queue, by]) => deleteQueue(queue, 0, by)),
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        fc.constantFrom('bind' as const, 'bind' as const, 'unbind' as const),
        name,
        name,
        fc.constantFrom('queue' as const, 'exchange' as const),
        fc.constantFrom('', 'k'),
        connection,
      )
      .map(([op, source, to, destinationKind, key, by]) =>
        bind(source, to, key, { op, destinationKind, connection: by }),
      ),
  },
  connection.map((closed) => ({ op: 'connectionClosed' as const, connection: closed })),
);

/** Something to begin with. */
const furniture: WiringOperation[] = [
  declareExchange('a', 'fanout', { autoDelete: true }),
  declareExchange('b', 'fanout'),
  declareQueue('a'),
  declareQueue('b', { exclusive: true }),
  bind('a', 'a'),
  bind('b', 'a', 'k', { destinationKind: 'exchange' }),
];

test('concurrent operations have the outcome of the same ones in a row', () => {
  const steps = fc
    .array(fc.oneof({ weight: 3, arbitrary: operation }, fc.nat(3)), { minLength: 10, maxLength: 60 })
    .map((list) => [...furniture, ...list]);
  fc.assert(
    fc.property(steps, (list) => {
      const system = new System();
      const naive = new NaiveWiring();
      let open = 0;
      for (const step of list) {
        if (typeof step === 'number') {
          system.commit(step);
          continue;
        }
        open++;
        system.sequencer.submit(step, (answer) => {
          open--;
          // Answers come in an order in which one after the other would have had the same outcome.
          const outcome = answer.result === 'refused' ? answer.kind : answer.result;
          assert.equal(outcome, naive.run(step), JSON.stringify(step));
        });
      }
      while (open > 0) {
        assert.ok(system.committed < system.events.length, 'somebody waits for nothing');
        system.commit();
      }
      assert.equal(system.sequencer.pending, 0);
      assert.deepEqual([...describe(system.tables)].sort(), naive.describe().sort());
    }),
    { numRuns: 2000 },
  );
});

function* describe(tables: WiringTables): Iterable<string> {
  for (const object of tables.objects()) {
    if (object.kind === 'queue') yield `queue ${object.name} ${object.owner}`;
    if (object.kind === 'exchange') yield `exchange ${object.name} ${object.autoDelete} ${object.internal}`;
    if (object.kind === 'binding') {
      yield `binding ${object.source} ${object.destinationKind} ${object.destination} ${object.routingKey}`;
    }
  }
}

test('operations that are asked again after a failure do not contradict the log', () => {
  const step = fc.oneof(
    { weight: 6, arbitrary: operation },
    { weight: 2, arbitrary: fc.nat(3) },
    { weight: 1, arbitrary: fc.nat(3).map((kept) => ({ kept })) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 50 }), (list) => {
      const system = new System();
      let open = 0;
      let again: WiringOperation[] = [];
      const ask = (op: WiringOperation): void => {
        open++;
        system.sequencer.submit(op, (answer: WiringAnswer) => {
          open--;
          if (answer.result === 'retry') again.push(op);
          if (answer.result === 'done') assert.ok(answer.version <= system.tables.version, 'answered when committed');
        });
      };
      for (const one of list) {
        if (typeof one === 'number') system.commit(one);
        else if ('kept' in one) {
          system.takeOver(one.kept);
          const retries = again;
          again = [];
          for (const op of retries) ask(op);
        } else ask(one);
      }
      while (open > 0) {
        assert.ok(system.committed < system.events.length, 'somebody waits for nothing');
        system.commit();
      }
      assert.deepEqual(again, []);
    }),
    { numRuns: 1000 },
  );
});

test('operations on different names do not wait for each other', () => {
  const system = new System();
  const answers: string[] = [];
  const note =
    (text: string) =>
    ({ result }: WiringAnswer): number =>
      answers.push(`${text} ${result}`);
  system.sequencer.submit(declareQueue('a'), note('a'));
  system.sequencer.submit(declareQueue('b'), note('b'));
  system.sequencer.submit(declareQueue('a'), note('a again'));
  system.sequencer.submit(bind('amq.topic', 'a', 'k'), note('bind'));
  assert.equal(system.events.length, 2);
  system.commit(1);
  assert.deepEqual(answers, ['a done', 'a again done']);
  assert.equal(system.events.length, 3);
  system.commit();
  assert.deepEqual(answers, ['a done', 'a again done', 'b done', 'bind done']);
});

test('many queues are bound to one exchange side by side', () => {
  const system = new System();
  for (let i = 0; i < 100; i++) system.sequencer.submit(declareQueue(`q${i}`), () => {});
  system.commit();
  for (let i = 0; i < 100; i++) system.sequencer.submit(bind('amq.topic', `q${i}`, 'k'), () => {});
  assert.equal(system.events.length, 200);
});

test('two unbindings of an auto-delete exchange: the last one takes it along', () => {
  const system = new System();
  const ask = (op: WiringOperation): void => system.sequencer.submit(op, () => {});
  ask(declareExchange('e', 'fanout', { autoDelete: true }));
  ask(declareQueue('q'));
  ask(declareQueue('r'));
  system.commit();
  ask(bind('e', 'q'));
  ask(bind('e', 'r'));
  system.commit();
  ask(deleteQueue('q'));
  ask(deleteQueue('r'));
  system.commit();
  system.commit();
  assert.deepEqual([...system.tables.objects()], []);
});

test('a declaration that overtakes the end of its connection finds it closed in the end', () => {
  const system = new System();
  const answers: string[] = [];
  system.sequencer.submit(declareQueue('q', { exclusive: true }), ({ result }) => answers.push(result));
  system.sequencer.submit({ op: 'connectionClosed', connection: alice }, ({ result }) => answers.push(result));
  system.commit();
  system.commit();
  assert.deepEqual(answers, ['done', 'done']);
  assert.equal(system.tables.queue('/', 'q'), undefined);
  system.sequencer.submit({ op: 'nodeGone', node: 'n1', boot: 1 }, () => {});
  system.sequencer.submit(declareQueue('q', { exclusive: true }), ({ result }) => answers.push(result));
  assert.deepEqual(answers, ['done', 'done', 'refused']);
  system.isBack = true;
  system.sequencer.submit(declareQueue('q', { exclusive: true }), ({ result }) => answers.push(result));
  system.commit();
  assert.deepEqual(answers, ['done', 'done', 'refused', 'done']);
});

test('what goes with a boot is deleted once, by whichever primary comes to it', () => {
  for (const [count, kept] of [
    [10, 0],
    [10, 1],
    [2 * goneMax + 1, 0],
    [2 * goneMax + 1, 1],
  ] as const) {
    const system = new System();
    system.sequencer.submit(declareQueue('q'), () => {});
    system.commit();
    const goesWith = { node: 'n1', boot: 1 };
    for (let i = 0; i < count; i++)
      system.tables.appeared(10_000 + i, bindingObject('amq.topic', 'q', `k${i}`, { goesWith }));
    const answers: string[] = [];
    const gone = { op: 'nodeGone', ...goesWith } as const;
    system.sequencer.submit(gone, ({ result }) => answers.push(result));
    system.takeOver(kept);
    while (system.tables.count('binding') > 0) {
      system.sequencer.submit(gone, ({ result }) => answers.push(result));
      system.commit();
    }
    assert.deepEqual(answers, ['retry', ...Array<string>(Math.ceil(count / goneMax) - kept).fill('done')]);
    const removed = system.events.flatMap(({ remove }) => remove ?? []);
    assert.equal(removed.length, count);
    assert.equal(new Set(removed).size, removed.length);
    assert.equal(system.tables.count('queue'), 1);
  }
});

test('a declaration waits until what a boot that is over has left is gone', () => {
  const system = new System();
  const none = { arguments: { 'x-replicate': 'none' } };
  const answers: string[] = [];
  const ask = (operation: WiringOperation): void =>
    system.sequencer.submit(operation, ({ result }) => answers.push(result));
  system.isBack = true;
  ask(declareExchange('x', 'fanout', none));
  system.commit();
  system.isBack = false;
  ask(declareExchange('x', 'fanout', { ...none, connection: bob }));
  ask({ op: 'nodeGone', node: 'n1', boot: 1 });
  ask(declareExchange('x', 'fanout', { ...none, connection: bob }));
  assert.deepEqual(answers, ['done', 'retry']);
  system.commit();
  system.commit();
  assert.deepEqual(answers, ['done', 'retry', 'done', 'done']);
  assert.deepEqual(system.tables.exchange('/', 'x')?.goesWith, { node: 'n2', boot: 2 });
});

test('the number of waiting operations is bounded', () => {
  const system = new System();
  const answers: WiringAnswer[] = [];
  for (let i = 0; i <= operationsMax; i++) system.sequencer.submit(declareQueue('q'), (answer) => answers.push(answer));
  assert.deepEqual(answers, [{ result: 'retry', reason: '10000 wiring operations are waiting already' }]);
  system.commit();
  assert.equal(answers.length, operationsMax + 1);
  assert.equal(system.sequencer.pending, 0);
});

test('a deletion of very many objects is several events, bindings first', () => {
  const system = new System();
  system.sequencer.submit(declareQueue('q'), () => {});
  system.commit();
  const queue = system.tables.queue('/', 'q')!;
  const total = removeMax + 10;
  for (let i = 1; i <= total; i++) {
    system.tables.appeared(10_000 + i, bindingObject('amq.topic', 'q', `k${i}`));
  }
  const answers: WiringAnswer[] = [];
  system.sequencer.submit(deleteQueue('q'), (answer) => answers.push(answer));
  const [first, second] = system.events.slice(1);
  assert.equal(first?.remove?.length, removeMax);
  assert.equal(second?.remove?.length, 11);
  assert.ok(second?.remove?.includes(queue.position));
  system.committed = system.events.length;
  system.sequencer.committed(first!.lsn);
  assert.equal(answers.length, 0);
  system.sequencer.committed(second!.lsn);
  assert.equal(answers[0]?.result, 'done');
});

test('who is not the primary any more says so', () => {
  const system = new System();
  const answers: WiringAnswer[] = [];
  system.sequencer.submit(declareQueue('q'), (answer) => answers.push(answer));
  system.sequencer.failed('n2 leads the system group now');
  system.sequencer.submit(declareQueue('r'), (answer) => answers.push(answer));
  const retry: WiringAnswer = { result: 'retry', reason: 'n2 leads the system group now' };
  assert.deepEqual(answers, [retry, retry]);
  system.sequencer.committed(10_000);
});

test('what an older epoch left is "already there" only when everybody has it', () => {
  const system = new System();
  system.sequencer.submit(declareQueue('q'), () => {});
  system.sequencer.submit(deleteQueue('other'), () => {});
  const end = system.inherit(1);
  const answers: WiringAnswer[] = [];
  const keep = (answer: WiringAnswer): void => void answers.push(answer);
  system.sequencer.submit(declareQueue('q'), keep);
  // A refusal rests on it as well, and so does whatever has a name in common with what waits.
  system.sequencer.submit(declareQueue('q', { durable: false }), keep);
  system.sequencer.submit(deleteQueue('q'), keep);
  assert.equal(answers.length, 0);
  system.sequencer.committed(end - 1);
  assert.equal(answers.length, 0);
  system.sequencer.committed(end);
  assert.deepEqual(
    answers.map(({ result }) => result),
    ['done', 'refused'],
  );
  system.commit();
  assert.equal(answers[2]?.result, 'done');
  assert.equal(system.sequencer.pending, 0);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Hashing } from '../../../src/model/access/objects.js';
import { queueChangesMax } from '../../../src/model/wiring/group-queues.js';
import type { WiringObject, PolicyObject } from '../../../src/model/wiring/objects.js';
import { WiringTables } from '../../../src/model/wiring/tables.js';
import { alice, bindingObject, bob, exchangeObject, queueObject, reached } from './support.js';

const names = fc.constantFrom('a', 'b', 'c');
/** With a boot, or not: the boots of alice and bob, and another of alice's node. */
const ending = fc.constantFrom({}, {}, ...[1, 3].map((boot) => ({ goesWith: { node: 'n1', boot } })), {
  goesWith: { node: 'n2', boot: 2 },
});
const objects: fc.Arbitrary<WiringObject> = fc.oneof(
  fc.tuple(names, fc.constantFrom('', alice, bob), fc.constantFrom(1, 2)).map(([name, owner, group]) => {
    return queueObject(name, { owner, group });
  }),
  fc
    .tuple(
      names,
      fc.constantFrom('direct', 'fanout', 'topic', 'headers'),
      fc.constantFrom({}, { 'alternate-exchange': 'a' }),
      ending,
    )
    .map(([name, type, args, goes]) => exchangeObject(name, type, { arguments: args, ...goes })),
  fc
    .tuple(
      names,
      names,
      fc.constantFrom('', 'a', '*', '#'),
      fc.constantFrom('queue', 'exchange'),
      fc.constantFrom({}, { h: 1 }),
      ending,
    )
    .map(([source, to, key, destinationKind, args, goes]) => {
      return bindingObject(source, to, key, { destinationKind, arguments: args, ...goes });
    }),
  fc.constantFrom<WiringObject>(
    { kind: 'founded', position: 0 },
    { kind: 'user', position: 0, name: 'u', tags: ['one'], hashing: Hashing.md5, hash: '', scram: '' },
    { kind: 'permission', position: 0, user: 'u', vhost: 'v', configure: '', write: 'a', read: 'b' },
    { kind: 'permission', position: 0, user: 'u', vhost: '/', configure: '', write: 'a', read: 'b' },
    { kind: 'topicPermission', position: 0, user: 'u', vhost: 'v', exchange: 'a', write: 'a', read: 'b' },
    { kind: 'limits', position: 0, of: 'vhost', name: 'v', limits: { 'max-queues': 1 } },
    { kind: 'globalParameter', position: 0, name: 'g', value: 1 },
    policyObject('policy', 'v'),
    policyObject('operatorPolicy', 'v'),
    policyObject('operatorPolicy', '/'),
  ),
  fc.constantFrom<WiringObject>({ kind: 'vhost', position: 0, name: 'v', description: '', tags: [] }),
);

function policyObject(kind: PolicyObject['kind'], vhost: string): PolicyObject {
  const limit = { pattern: '', priority: 0, applyTo: 'queues', definition: { 'max-length': 1 } } as const;
  return { kind, position: 0, vhost, name: 'p', ...limit };
}

/** Everything that the tables answer. */
function answers(tables: WiringTables): unknown {
  const positions = (list: Iterable<{ position: number }>): number[] =>
    [...list].map((object) => object.position).sort((x, y) => x - y);
  const routes: string[] = [];
  for (const exchange of ['', 'a', 'b', 'c']) {
    if (tables.exchange('/', exchange) === undefined) continue;
    for (const key of ['', 'a', 'b', 'b.b']) {
      routes.push(`${exchange} ${key}: ${reached(tables, exchange, key, { h: 1 }).join()}`);
    }
  }
  return {
    routes,
    vhosts: ['v', '/'].map((name) => tables.hasVhost(name)),
    ghosts: [...new Set(tables.ghostVhosts())].sort(),
    contents: ['v', '/'].map((name) => [...new Set(positions(tables.contentsOf(name)))]),
    user: tables.access.user('u')?.position,
    ofUser: positions(tables.access.ofUser('u')),
    permissions: ['v', '/'].map((name) => tables.access.permission('u', name)?.position),
    topics: tables.access.topicPermission('u', 'v', 'a')?.position,
    limits: tables.access.limitsOf('vhost', 'v')?.position,
    parameter: tables.globalParameter('g')?.position,
    policies: (['policy', 'operatorPolicy'] as const).map(
      (kind) => tables.policies.of(kind).current('v', 'p')?.position,
    ),
    applied: ['v', '/'].map((vhost) => tables.policies.ofQueue(vhost, 'a').operatorPolicy?.position),
    queues: ['a', 'b', 'c'].map((name) => tables.queue('/', name)?.position),
    exchanges: ['a', 'b', 'c'].map((name) => tables.exchange('/', name)?.position),
    inbound: ['a', 'b', 'c'].map((name) => positions(tables.queueTarget('/', name)?.inbound() ?? [])),
    outbound: ['a', 'b', 'c'].map((name) => positions(tables.exchangeTarget('/', name)?.outbound() ?? [])),
    owned: [alice, bob].map((owner) => positions(tables.queuesOwnedBy(owner))),
    boots: [...tables.boots.all()]
      .map(({ node, boot, objects }) => `${node}/${boot} ${positions(objects).join()}`)
      .sort(),
    groups: [1, 2].map((group) => positions(tables.queuesOfGroup(group))),
    counts: (['vhost', 'exchange', 'queue', 'binding'] as const).map((kind) => tables.count(kind)),
    all: positions(tables.objects()),
  };
}

test('what the tables answer depends on what is live, not on the order in which they heard of it', () => {
  const history = fc.array(fc.tuple(objects, fc.boolean()), { maxLength: 25 }).chain((list) =>
    fc.record({
      objects: fc.constant(list.map(([object], i) => ({ object, position: i + 1 }))),
      gone: fc.constant(list.map(([, gone]) => gone)),
      order: fc.shuffledSubarray(
        list.map((_, i) => i),
        { minLength: list.length, maxLength: list.length },
      ),
      delays: fc.array(fc.nat(list.length), { minLength: list.length, maxLength: list.length }),
    }),
  );
  fc.assert(
    fc.property(history, ({ objects: list, gone, order, delays }) => {
      const plain = new WiringTables();
      for (const [i, { object, position }] of list.entries()) if (!gone[i]) plain.appeared(position, object);
      const mixed = new WiringTables();
      // Each object appears at its place in `order`; if it goes, some places later.
      const going: { at: number; position: number }[] = [];
      for (const [step, i] of order.entries()) {
        const { object, position } = list[i]!;
        mixed.appeared(position, object);
        if (gone[i]) going.push({ at: step + delays[i]!, position });
        for (const due of going) if (due.at === step) mixed.gone(due.position);
      }
      for (const { position } of going) mixed.gone(position);
      assert.deepEqual(answers(mixed), answers(plain));
    }),
    { numRuns: 500 },
  );
});

test('when all is gone nothing is left', () => {
  fc.assert(
    fc.property(fc.array(objects, { maxLength: 20 }), fc.boolean(), (list, backwards) => {
      const tables = new WiringTables();
      for (const [i, object] of list.entries()) tables.appeared(i + 1, object);
      const positions = list.map((_, i) => i + 1);
      for (const position of backwards ? positions.reverse() : positions) tables.gone(position);
      assert.deepEqual(answers(tables), answers(new WiringTables()));
      for (const name of ['a', 'b', 'c']) {
        assert.equal(tables.queueTarget('/', name), undefined);
        assert.equal(tables.exchangeTarget('/', name), undefined);
      }
    }),
  );
});

test('a queue is known by name and by incarnation; observers hear of both ends of its life', () => {
  const tables = new WiringTables();
  const heard: string[] = [];
  const observer = tables.observe({
    queueAppeared: (queue) => heard.push(`+${queue.position}`),
    queueGone: (queue) => heard.push(`-${queue.position}`),
  });
  tables.appeared(7, queueObject('q'));
  tables.appeared(7, queueObject('q'));
  assert.equal(tables.queue('/', 'q')?.position, 7);
  assert.equal(tables.queueAt(7)?.name, 'q');
  const before = tables.routingVersion;
  tables.gone(7);
  assert.notEqual(tables.routingVersion, before);
  assert.equal(tables.queueAt(7), undefined);
  tables.gone(7);
  observer.close();
  tables.appeared(9, queueObject('q'));
  assert.deepEqual(heard, ['+7', '-7']);
});

test('vhosts hold names apart; the default one needs no declaration', () => {
  const tables = new WiringTables();
  tables.appeared(1, queueObject('q', { vhost: 'v' }));
  assert.equal(tables.hasVhost('/'), true);
  assert.equal(tables.hasVhost('v'), false);
  tables.appeared(2, { kind: 'vhost', position: 0, name: 'v', description: '', tags: [] });
  assert.equal(tables.hasVhost('v'), true);
  assert.equal(tables.queue('/', 'q'), undefined);
  assert.equal(tables.route('v', 'amq.fanout', '', () => ({})).queues.length, 0);
  assert.deepEqual(
    tables.route('v', '', 'q', () => ({})).queues.map((queue) => queue.position),
    [1],
  );
  tables.gone(2);
  assert.equal(tables.hasVhost('v'), false);
});

test('changes among the queues of a group are remembered by version', () => {
  const tables = new WiringTables();
  tables.appeared(1, queueObject('a', { group: 3 }));
  tables.appeared(2, queueObject('b', { group: 4 }));
  tables.applied(2);
  tables.gone(1);
  tables.appeared(4, queueObject('c', { group: 3 }));
  assert.equal(tables.queueChanges(3, 2)?.length, 0, 'not before their version is known');
  tables.applied(4);
  const since = (version: number): string[] | undefined =>
    tables.queueChanges(3, version)?.map((change) => `${change.kind} ${change.queue.name} @${change.version}`);
  assert.deepEqual(since(0), ['appeared a @2', 'gone a @4', 'appeared c @4']);
  assert.deepEqual(since(2), ['gone a @4', 'appeared c @4']);
  assert.deepEqual(since(4), []);
  assert.deepEqual(tables.queueChanges(99, 0), []);
});

test('too many changes are forgotten, and it says so', () => {
  const tables = new WiringTables();
  const total = queueChangesMax * 3;
  for (let i = 1; i <= total; i++) {
    tables.appeared(i, queueObject(`q${i}`, { group: 3 }));
    tables.applied(i);
  }
  assert.equal(tables.queueChanges(3, 0), undefined);
  assert.equal(tables.queueChanges(3, total - queueChangesMax)?.length, queueChangesMax);
  for (let i = 1; i <= queueChangesMax + 1; i++) tables.gone(i);
  tables.applied(total + 1);
  assert.equal(tables.queueChanges(3, total), undefined, 'one batch was too large');
  assert.deepEqual(tables.queueChanges(3, total + 1), []);
});

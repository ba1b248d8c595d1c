import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Arguments } from '../../../src/model/broker.js';
import type { DeclareQueue } from '../../../src/model/wiring/operations.js';
import { plan } from '../../../src/model/wiring/plan.js';
import { defaultLimits } from '../../../src/model/wiring/planner.js';
import {
  alice,
  bind,
  bob,
  declareExchange,
  declareQueue,
  deleteExchange,
  deleteQueue,
  InstantWiring,
} from './support.js';

const lockedText =
  "resource-locked: cannot obtain exclusive access to locked queue 'q' in vhost '/'. It could be originally declared on " +
  'another connection or the exclusive property value does not match that of the original declaration.';

test('a declaration that is repeated changes nothing and names the same object', () => {
  const wiring = new InstantWiring();
  const args = { 'x-max-length': 10, other: 'kept' };
  const queue = wiring.done(declareQueue('q', { arguments: args }));
  const exchange = wiring.done(declareExchange('e', 'topic'));
  const binding = wiring.done(bind('e', 'q', 'k', { arguments: { a: 1, b: 2 } }));
  const before = wiring.lsn;
  assert.deepEqual(wiring.done(declareQueue('q', { arguments: { ...args, 'x-max-length': 10n } })), {
    ...queue,
    version: before,
  });
  assert.equal(wiring.done(declareExchange('e', 'topic')).position, exchange.position);
  assert.equal(wiring.done(bind('e', 'q', 'k', { arguments: { b: 2, a: 1 } })).position, binding.position);
  assert.equal(wiring.lsn, before);
  assert.deepEqual(wiring.tables.queue('/', 'q')?.arguments, args);
});

test('a queue gets the group that was chosen and keeps it', () => {
  const wiring = new InstantWiring();
  assert.equal(wiring.done(declareQueue('q')).group, 1);
  assert.equal(wiring.done(declareQueue('mine', { exclusive: true })).group, 0x8001);
  assert.equal(wiring.tables.queue('/', 'mine')?.owner, alice);
  assert.equal(wiring.done(declareQueue('q', { passive: true })).group, 1);
});

test('declarations that differ from the queue that is there', () => {
  const wiring = new InstantWiring();
  wiring.done(declareQueue('q', { durable: false, arguments: { 'x-max-length': 5 } }));
  const same: Partial<DeclareQueue> = { durable: false, arguments: { 'x-max-length': 5 } };
  const differ = (fields: Partial<DeclareQueue>): string => wiring.refused(declareQueue('q', { ...same, ...fields }));
  assert.equal(
    differ({ durable: true }),
    "precondition-failed: inequivalent arg 'durable' for queue 'q' in vhost '/': received 'true' but current is 'false'",
  );
  assert.match(
    differ({ autoDelete: true }),
    /inequivalent arg 'auto_delete' .* received 'true' but current is 'false'/,
  );
  assert.equal(
    differ({ arguments: {} }),
    "precondition-failed: inequivalent arg 'x-max-length' for queue 'q' in vhost '/': " +
      "received none but current is the value '5' of type 'long'",
  );
  assert.match(
    differ({ arguments: { 'x-max-length': 5, 'x-queue-type': 'quorum' } }),
    /inequivalent arg 'x-queue-type'/,
  );
  assert.equal(differ({ exclusive: true }), lockedText);
  wiring.done(declareQueue('q', { ...same, arguments: { 'x-max-length': 5, 'x-queue-type': 'classic', unknown: 1 } }));
});

test('declarations that differ from the exchange that is there', () => {
  const wiring = new InstantWiring();
  wiring.done(declareExchange('e', 'direct', { arguments: { 'alternate-exchange': 'a' } }));
  const same = { arguments: { 'alternate-exchange': 'a' } };
  assert.equal(
    wiring.refused(declareExchange('e', 'fanout', same)),
    "precondition-failed: inequivalent arg 'type' for exchange 'e' in vhost '/': received 'fanout' but current is 'direct'",
  );
  assert.match(wiring.refused(declareExchange('e', 'direct', { ...same, durable: false })), /'durable'/);
  assert.match(wiring.refused(declareExchange('e', 'direct', { ...same, autoDelete: true })), /'auto_delete'/);
  assert.match(wiring.refused(declareExchange('e', 'direct', { ...same, internal: true })), /'internal'/);
  assert.match(
    wiring.refused(declareExchange('e', 'direct')),
    /'alternate-exchange' .* received none but current is the value 'a' of type 'longstr'/,
  );
  assert.match(wiring.refused(declareExchange('e', 'x-other')), /unknown exchange type 'x-other'/);
});

test('passive declarations only ask', () => {
  const wiring = new InstantWiring();
  assert.equal(wiring.refused(declareQueue('q', { passive: true })), "not-found: no queue 'q' in vhost '/'");
  assert.equal(wiring.refused(declareExchange('e', '', { passive: true })), "not-found: no exchange 'e' in vhost '/'");
  wiring.done(declareQueue('q', { durable: false, exclusive: true }));
  wiring.done(declareQueue('q', { passive: true }));
  assert.equal(wiring.refused(declareQueue('q', { passive: true, connection: bob })), lockedText);
  assert.equal(wiring.done(declareExchange('amq.topic', '', { passive: true })).position, 0);
  assert.equal(wiring.lsn, 1);
});

test('an exclusive queue is closed to other connections', () => {
  const wiring = new InstantWiring();
  wiring.done(declareQueue('q', { exclusive: true }));
  wiring.done(declareExchange('e'));
  assert.equal(wiring.refused(declareQueue('q', { exclusive: true, connection: bob })), lockedText);
  assert.equal(wiring.refused(declareQueue('q', { connection: bob })), lockedText);
  assert.equal(wiring.refused(declareQueue('q')), lockedText);
  assert.equal(wiring.refused(bind('e', 'q', '', { connection: bob })), lockedText);
  assert.equal(wiring.refused(bind('e', 'q', '', { connection: bob, op: 'unbind' })), lockedText);
  assert.equal(wiring.refused(deleteQueue('q', 0, bob)), lockedText);
  wiring.done(deleteQueue('q'));
});

test('names of the broker are not for clients', () => {
  const wiring = new InstantWiring();
  assert.equal(
    wiring.refused(declareQueue('amq.mine')),
    "access-refused: queue name 'amq.mine' contains reserved prefix 'amq.*'",
  );
  assert.equal(
    wiring.refused(declareExchange('amq.mine')),
    "access-refused: exchange name 'amq.mine' contains reserved prefix 'amq.*'",
  );
  assert.match(wiring.refused(declareExchange('amq.rabbitmq.trace', 'topic')), /reserved prefix/);
  wiring.done(declareQueue('amq.gen-1', { serverNamed: true, exclusive: true }));
  wiring.done(declareExchange('amq.direct', 'direct'));
  assert.equal(
    wiring.refused(deleteExchange('amq.direct')),
    "access-refused: deletion of system exchange 'amq.direct' in vhost '/' not allowed: every vhost has it",
  );
  const text = 'access-refused: operation not permitted on the default exchange';
  assert.equal(wiring.refused(declareExchange('')), text);
  assert.equal(wiring.refused(deleteExchange('')), text);
  assert.equal(wiring.refused(bind('', 'amq.gen-1')), text);
  assert.equal(wiring.refused(bind('amq.direct', '', '', { destinationKind: 'exchange' })), text);
});

test('what the broker tells of itself comes from the broker', () => {
  const wiring = new InstantWiring();
  assert.equal(
    wiring.refused(bind('amq.fanout', 'amq.failover', '', { destinationKind: 'exchange' })),
    "access-refused: cannot bind to exchange 'amq.failover' in vhost '/': only the broker publishes there",
  );
  assert.throws(
    () => wiring.reaches('amq.failover', ''),
    /cannot publish to internal exchange 'amq.failover' in vhost '\/'/,
  );
  wiring.done(declareQueue('q'));
  wiring.done(bind('amq.failover', 'q'));
  wiring.done(bind('amq.failover', 'amq.fanout', '', { destinationKind: 'exchange' }));
});

test('names longer than a short string are refused', () => {
  const wiring = new InstantWiring();
  assert.match(wiring.refused(declareQueue('\u20ac'.repeat(86))), /longer than 255 bytes/);
  wiring.done(declareQueue('\u20ac'.repeat(85)));
});

const wrongArguments: [Arguments, RegExp][] = [
  [
    { 'x-queue-type': 'magic' },
    /^precondition-failed: invalid arg 'x-queue-type' for queue 'q' .*'classic' or 'quorum'/,
  ],
  [{ 'x-queue-type': 'stream' }, /^not-implemented: .*'stream' are not implemented; use 'classic' or 'quorum'/],
  [
    { 'x-max-length': -1 },
    /^precondition-failed: .*the value '-1' of type 'long' was received, an integer of at least 0/,
  ],
  [{ 'x-max-length': '5' }, /an integer of at least 0 is expected/],
  [{ 'x-max-length': 1.5 }, /an integer of at least 0 is expected/],
  [{ 'x-expires': 0 }, /an integer from 1 to 315360000000/],
  [{ 'x-message-ttl': 315_360_000_001 }, /an integer from 0 to 315360000000/],
  [{ 'x-max-priority': 256 }, /an integer from 0 to 255/],
  [{ 'x-overflow': 'panic' }, /'drop-head' or 'reject-publish'/],
  [{ 'x-dead-letter-routing-key': 'k' }, /needs 'x-dead-letter-exchange'/],
  [{ 'x-single-active-consumer': 1 }, /a boolean is expected/],
  [{ 'x-replicas': 0 }, /an integer from 1 to 31/],
];
for (const [args, expected] of wrongArguments) {
  test(`queue arguments ${JSON.stringify(args)} are refused`, () => {
    assert.match(new InstantWiring().refused(declareQueue('q', { arguments: args })), expected);
  });
}

test('queue arguments that mean something later are kept', () => {
  const wiring = new InstantWiring();
  const args = {
    'x-queue-type': 'quorum',
    'x-message-ttl': 1000n,
    'x-max-length-bytes': 0,
    'x-overflow': 'reject-publish',
    'x-dead-letter-exchange': '',
    'x-dead-letter-routing-key': 'k',
    'x-delivery-limit': -1,
    'x-replicas': 3,
    whatever: [1],
  };
  wiring.done(declareQueue('q', { arguments: args }));
  assert.deepEqual(wiring.tables.queue('/', 'q')?.arguments, args);
});

test('a quorum queue is durable, not exclusive, not auto-delete', () => {
  const wiring = new InstantWiring();
  const quorum = { arguments: { 'x-queue-type': 'quorum' } };
  assert.match(wiring.refused(declareQueue('q', { ...quorum, durable: false })), /invalid property 'non-durable'/);
  assert.match(wiring.refused(declareQueue('q', { ...quorum, exclusive: true })), /invalid property 'exclusive-owner'/);
  assert.match(wiring.refused(declareQueue('q', { ...quorum, autoDelete: true })), /invalid property 'auto-delete'/);
});

test('bindings need both ends', () => {
  const wiring = new InstantWiring();
  assert.equal(wiring.refused(bind('e', 'q')), "not-found: no exchange 'e' in vhost '/'");
  wiring.done(declareExchange('e', 'headers'));
  assert.equal(wiring.refused(bind('e', 'q')), "not-found: no queue 'q' in vhost '/'");
  assert.equal(
    wiring.refused(bind('e', 'f', '', { destinationKind: 'exchange' })),
    "not-found: no exchange 'f' in vhost '/'",
  );
  wiring.done(declareQueue('q'));
  assert.match(
    wiring.refused(bind('e', 'q', '', { arguments: { 'x-match': 'some' } })),
    /^precondition-failed: invalid x-match: the value 'some' .* all, any, all-with-x, any-with-x/,
  );
  assert.equal(wiring.done(bind('e', 'missing', '', { op: 'unbind' })).position, 0);
  assert.equal(wiring.done(bind('missing', 'q', '', { op: 'unbind' })).position, 0);
  assert.match(wiring.refused(declareQueue('q', { vhost: 'v' })), /^not-found: no vhost 'v'/);
});

test('a binding is durable if both ends are', () => {
  const wiring = new InstantWiring();
  wiring.done(declareExchange('e'));
  wiring.done(declareQueue('d'));
  wiring.done(declareQueue('t', { durable: false }));
  wiring.done(declareQueue('x', { exclusive: true }));
  const durable = (queue: string): unknown => {
    const object = wiring.tables.at(wiring.done(bind('e', queue)).position);
    return object?.kind === 'binding' && object.durable;
  };
  assert.deepEqual([durable('d'), durable('t'), durable('x')], [true, false, false]);
});

test('a queue goes with its bindings, and takes auto-delete exchanges along', () => {
  const wiring = new InstantWiring();
  wiring.done(declareQueue('q'));
  wiring.done(declareQueue('r'));
  for (const name of ['a', 'b', 'c']) wiring.done(declareExchange(name, 'fanout', { autoDelete: name !== 'c' }));
  wiring.done(bind('a', 'b', '', { destinationKind: 'exchange' }));
  wiring.done(bind('b', 'q'));
  wiring.done(bind('c', 'q'));
  wiring.done(bind('c', 'r'));
  const answer = wiring.done(deleteQueue('q'));
  assert.equal(answer.position, 1);
  assert.deepEqual(
    wiring.deleted.map((object) =>
      object.kind === 'binding' ? `${object.source}>${object.destination}` : object.kind,
    ),
    ['b>q', 'c>q', 'a>b', 'exchange', 'exchange', 'queue'],
  );
  assert.equal(wiring.tables.exchange('/', 'a'), undefined);
  assert.equal(wiring.tables.exchange('/', 'b'), undefined);
  assert.deepEqual(wiring.reaches('c', ''), ['r']);
});

test('an auto-delete exchange waits for its first binding', () => {
  const wiring = new InstantWiring();
  wiring.done(declareQueue('q'));
  wiring.done(declareExchange('a', 'fanout', { autoDelete: true }));
  wiring.done(bind('a', 'q', 'x', { op: 'unbind' }));
  assert.ok(wiring.tables.exchange('/', 'a'));
  wiring.done(bind('a', 'q', 'x'));
  wiring.done(bind('a', 'q', 'y'));
  wiring.done(bind('a', 'q', 'x', { op: 'unbind' }));
  assert.ok(wiring.tables.exchange('/', 'a'));
  wiring.done(bind('a', 'q', 'y', { op: 'unbind' }));
  assert.equal(wiring.tables.exchange('/', 'a'), undefined);
});

test('an exchange bound to itself can be deleted', () => {
  const wiring = new InstantWiring();
  wiring.done(declareExchange('a', 'fanout', { autoDelete: true }));
  wiring.done(bind('a', 'a', '', { destinationKind: 'exchange' }));
  wiring.done(deleteExchange('a'));
  assert.equal(wiring.deleted.length, 2);
  assert.equal(wiring.tables.count('binding'), 0);
});

test('an exchange in use is kept if that is asked', () => {
  const wiring = new InstantWiring();
  wiring.done(declareExchange('e'));
  wiring.done(declareQueue('q'));
  wiring.done(bind('e', 'q'));
  assert.equal(wiring.refused(deleteExchange('e', true)), "precondition-failed: exchange 'e' in vhost '/' in use");
  wiring.done(bind('e', 'q', '', { op: 'unbind' }));
  wiring.done(deleteExchange('e', true));
  assert.equal(wiring.done(deleteExchange('e', true)).position, 0);
});

test('a deletion that is repeated does not hit the successor', () => {
  const wiring = new InstantWiring();
  const first = wiring.done(declareQueue('q')).position;
  wiring.done(deleteQueue('q', first));
  const second = wiring.done(declareQueue('q')).position;
  assert.notEqual(second, first);
  assert.equal(wiring.done(deleteQueue('q', first)).position, 0);
  wiring.done({ op: 'queueUnused', incarnation: first });
  assert.equal(wiring.tables.queue('/', 'q')?.position, second);
});

test('auto-delete queues go when they are unused, others do not', () => {
  const wiring = new InstantWiring();
  const kept = wiring.done(declareQueue('kept')).position;
  const gone = wiring.done(declareQueue('gone', { autoDelete: true })).position;
  wiring.done({ op: 'queueUnused', incarnation: kept });
  assert.deepEqual(wiring.done({ op: 'queueUnused', incarnation: gone }).group, 1);
  assert.equal(wiring.tables.queueAt(gone), undefined);
  assert.ok(wiring.tables.queueAt(kept));
});

test('the mark of an auto-delete queue that has had a consumer is made once, and goes with the queue', () => {
  const wiring = new InstantWiring();
  const kept = wiring.done(declareQueue('kept')).position;
  const first = wiring.done(declareQueue('q', { autoDelete: true, durable: false })).position;
  for (const incarnation of [kept, first, first, 999]) wiring.done({ op: 'queueUsed', incarnation });
  assert.equal(wiring.tables.count('use'), 1);
  assert.deepEqual(wiring.tables.useOf(first)?.durable, false);
  wiring.done({ op: 'queueUnused', incarnation: first });
  assert.equal(wiring.tables.count('use'), 0);
  const second = wiring.done(declareQueue('q', { autoDelete: true })).position;
  wiring.done({ op: 'queueUsed', incarnation: second });
  assert.deepEqual(wiring.tables.useOf(second)?.durable, true);
  wiring.done(deleteQueue('q', second));
  assert.equal(wiring.tables.count('use'), 0);
});

test('the end of a connection, or of a node, ends its exclusive queues', () => {
  const wiring = new InstantWiring();
  for (const connection of ['n1/1/1', 'n1/1/2', 'n1/3/1', 'n2/1/1']) {
    wiring.done(declareQueue(`of ${connection}`, { exclusive: true, connection }));
    wiring.done(bind('amq.fanout', `of ${connection}`, '', { connection }));
  }
  wiring.done(declareQueue('shared', { connection: 'n1/1/1' }));
  const left = (): number => wiring.tables.count('queue');
  wiring.done({ op: 'connectionClosed', connection: 'n1/1/2' });
  assert.equal(left(), 4);
  wiring.done({ op: 'nodeGone', node: 'n1', boot: 2 });
  assert.deepEqual(wiring.reaches('amq.fanout', ''), ['of n1/3/1', 'of n2/1/1']);
  wiring.gone.set('n1', 2);
  assert.match(
    wiring.refused(declareQueue('late', { exclusive: true, connection: 'n1/1/9' })),
    /^not-allowed: queue 'late' .* the node of its connection n1\/1\/9 is gone/,
  );
});

test('the number and the size of objects are limited', () => {
  const wiring = new InstantWiring();
  const context = { ...wiring.context, limits: { ...defaultLimits, queue: 1 } };
  wiring.done(declareQueue('q'));
  const answer = plan(context, declareQueue('r')).answer;
  assert.deepEqual(answer, {
    result: 'refused',
    kind: 'precondition-failed',
    text: 'cannot create another queue: the limit of 1 is reached; delete some first',
  });
  const big = { big: 'x'.repeat(300_000) };
  assert.match(wiring.refused(bind('amq.topic', 'q', '', { arguments: big })), /262144 are allowed/);
});

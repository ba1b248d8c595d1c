/** Exchanges and bindings with `x-replicate: none`: they go with the boot of the node through which they were declared. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OwnerBoots } from '../../../src/model/wiring/owner-boots.js';
import { isDurable } from '../../../src/model/wiring/objects.js';
import {
  alice,
  bind,
  bindingObject,
  bob,
  declareExchange,
  declareQueue,
  deleteExchange,
  exchangeObject,
  InstantWiring,
  queueObject,
} from './support.js';

const none = { arguments: { 'x-replicate': 'none' } };
const carol = 'n1/3/1';

/** Boot 1 of n1 and boot 2 of n2, as alice and bob are connected to them. */
function world(): InstantWiring {
  const wiring = new InstantWiring();
  wiring.done(declareQueue('q'));
  wiring.done(declareExchange('kept', 'fanout'));
  return wiring;
}

/** As the system group's primary does when the boot is over. */
function over(wiring: InstantWiring, node: string, boot: number): void {
  wiring.gone.set(node, boot);
  wiring.done({ op: 'nodeGone', node, boot });
}

describe('what is not replicated', () => {
  test('is there until the boot is over through which it was declared; an exchange goes with its bindings', () => {
    const wiring = world();
    wiring.done(declareExchange('x', 'fanout', none));
    wiring.done(bind('x', 'q'));
    wiring.done(bind('kept', 'x', '', { destinationKind: 'exchange', connection: bob }));
    wiring.done(bind('amq.topic', 'q', 'of n1', none));
    wiring.done(bind('amq.topic', 'q', 'of n2', { ...none, connection: bob }));
    wiring.done(bind('amq.topic', 'q', 'stays'));
    assert.deepEqual(wiring.reaches('kept', ''), ['q']);
    over(wiring, 'n1', 1);
    assert.deepEqual(wiring.deleted.map(({ kind }) => kind).sort(), ['binding', 'binding', 'binding', 'exchange']);
    assert.deepEqual(wiring.reaches('kept', ''), []);
    assert.deepEqual(
      ['of n1', 'of n2', 'stays'].map((key) => wiring.reaches('amq.topic', key).length),
      [0, 1, 1],
    );
    assert.ok(wiring.tables.queue('/', 'q'));
    assert.equal(wiring.tables.exchange('/', 'x'), undefined);
    // Once is enough, and twice does no harm: another primary may say it again.
    over(wiring, 'n1', 1);
    assert.deepEqual(wiring.deleted, []);
    assert.deepEqual(
      [...wiring.tables.boots.all()].map(({ node, boot }) => [node, boot]),
      [['n2', 2]],
    );
  });

  test('is asked for by every name and value that means it, and by no other', () => {
    const cases: [args: Record<string, string | boolean>, goes: boolean][] = [
      [{ 'x-replicate': 'none' }, true],
      [{ 'x-replicate': false }, true],
      [{ 'qpid.replicate': false }, true],
      [{ 'x-qpid-replicate': 'none' }, true],
      [{ 'x-replicate': 'all', 'qpid.replicate': 'none' }, false],
      [{ 'x-replicate': 'all' }, false],
      [{ 'qpid.replicate': true }, false],
      [{ 'x-replicate': 'configuration' }, false],
      [{}, false],
    ];
    for (const [args, goes] of cases) {
      const wiring = world();
      wiring.done(declareExchange('x', 'direct', { arguments: args }));
      wiring.done(bind('kept', 'q', '', { arguments: args }));
      over(wiring, 'n1', 1);
      assert.equal(wiring.deleted.length, goes ? 2 : 0, JSON.stringify(args));
    }
  });

  test('is refused, and nothing made, if it is nonsense or not all nodes would see it', () => {
    const wiring = world();
    for (const key of ['x-replicate', 'qpid.replicate', 'x-qpid-replicate']) {
      const some = { arguments: { [key]: 'some' } };
      const text = new RegExp(`^precondition-failed: invalid arg '${key}' for .*'all' or 'configuration' or 'none'`);
      assert.match(wiring.refused(declareExchange('x', 'direct', some)), text);
      assert.match(wiring.refused(declareExchange('kept', 'fanout', some)), text);
      assert.match(wiring.refused(bind('kept', 'q', '', some)), text);
    }
    wiring.version = 1;
    const text = /^not-implemented: 'x-replicate' is none for .* speaks protocol version 1: it takes 2/;
    assert.match(wiring.refused(declareExchange('x', 'direct', none)), text);
    assert.match(wiring.refused(bind('kept', 'q', '', none)), text);
    assert.deepEqual([wiring.tables.count('exchange'), wiring.tables.count('binding')], [1, 0]);
    wiring.done(declareExchange('x', 'direct', { arguments: { 'x-replicate': 'configuration' } }));
  });

  test('may be declared again through any node, and stays the first one’s', () => {
    const wiring = world();
    const exchange = wiring.done(declareExchange('x', 'fanout', none)).position;
    const binding = wiring.done(bind('kept', 'q', '', none)).position;
    assert.equal(wiring.done(declareExchange('x', 'fanout', { ...none, connection: bob })).position, exchange);
    const same = { arguments: { 'qpid.replicate': false }, connection: bob };
    assert.equal(wiring.done(declareExchange('x', 'fanout', same)).position, exchange);
    assert.equal(wiring.done(bind('kept', 'q', '', { ...none, connection: bob })).position, binding);
    assert.match(
      wiring.refused(declareExchange('x', 'fanout')),
      /^precondition-failed: inequivalent arg 'x-replicate' .* received 'all' but current is 'none'/,
    );
    assert.match(wiring.refused(declareExchange('kept', 'fanout', none)), /received 'none' but current is 'all'/);
    over(wiring, 'n2', 2);
    assert.deepEqual(wiring.deleted, []);
    over(wiring, 'n1', 1);
    assert.deepEqual(new Set(wiring.deleted.map(({ position }) => position)), new Set([exchange, binding]));
  });

  test('is not taken for there when its boot is over and it was not deleted yet', () => {
    const wiring = world();
    wiring.done(declareExchange('x', 'fanout', none));
    wiring.done(bind('kept', 'q', '', none));
    wiring.gone.set('n1', 1);
    const again = [
      declareExchange('x', 'fanout', { ...none, connection: bob }),
      declareExchange('x', 'fanout', { passive: true, connection: bob }),
      bind('x', 'q', '', { connection: bob }),
      bind('kept', 'q', '', { ...none, connection: bob }),
    ];
    for (const operation of again)
      assert.deepEqual(wiring.run(operation), {
        result: 'retry',
        reason: 'what goes with boot 1 of n1 is being deleted',
      });
    over(wiring, 'n1', 1);
    const [exchange, passive, , binding] = again;
    assert.match(wiring.refused(passive!), /^not-found/);
    wiring.done(exchange!);
    wiring.done(binding!);
    assert.deepEqual(
      [...wiring.tables.boots.all()].map(({ node, boot, objects }) => [node, boot, objects.size]),
      [['n2', 2, 2]],
    );
  });

  test('can be declared for no boot that is over', () => {
    const wiring = world();
    over(wiring, 'n1', 2);
    assert.match(
      wiring.refused(declareExchange('x', 'fanout', none)),
      /^not-allowed: exchange 'x' .* the node of its connection n1\/1\/1 is gone/,
    );
    assert.match(wiring.refused(bind('kept', 'q', '', none)), /^not-allowed: a binding of exchange 'kept'/);
    wiring.done(declareExchange('x', 'fanout', { ...none, connection: carol }));
  });

  test('is deleted like any other', () => {
    const wiring = world();
    wiring.done(declareExchange('x', 'fanout', none));
    wiring.done(bind('kept', 'q', '', none));
    wiring.done(deleteExchange('x'));
    wiring.done(bind('kept', 'q', '', { ...none, op: 'unbind', connection: bob }));
    assert.deepEqual([...wiring.tables.boots.all()], []);
  });

  test('never has to be on disk: no boot comes back', () => {
    const wiring = world();
    wiring.done(declareExchange('x', 'fanout', none));
    wiring.done(bind('x', 'q'));
    wiring.done(bind('kept', 'q', '', none));
    wiring.done(bind('kept', 'q'));
    const durable = [...wiring.tables.objects()].filter(isDurable).map(({ position }) => position);
    assert.deepEqual(durable, [1, 2, 6]);
    assert.equal(wiring.tables.exchange('/', 'x')!.durable, true);
  });

  test('stays if the broker is no cluster’s, whatever version it speaks', () => {
    const wiring = world();
    wiring.isAlone = true;
    wiring.version = 1;
    wiring.done(declareExchange('x', 'fanout', none));
    wiring.done(bind('x', 'q', '', none));
    wiring.done(declareExchange('x', 'fanout'));
    over(wiring, 'n1', 1);
    assert.deepEqual(wiring.reaches('x', ''), ['q']);
    assert.ok([...wiring.tables.objects()].every(isDurable));
  });
});

test('what goes with a boot is known by boot', () => {
  const boots = new OwnerBoots();
  const [first, second] = [
    { node: 'n1', boot: 1 },
    { node: 'n1', boot: 3 },
  ];
  const queue = queueObject('q', { owner: alice });
  const exchange = exchangeObject('x', 'direct', { goesWith: first });
  const binding = bindingObject('x', 'q', '', { goesWith: second });
  const others = [queueObject('r'), exchangeObject('y', 'direct'), bindingObject('y', 'q')];
  for (const object of [queue, exchange, binding, ...others]) boots.add(object);
  assert.deepEqual([...boots.upTo({ node: 'n1', boot: 2 })], [queue, exchange]);
  assert.deepEqual([...boots.upTo(second)], [queue, exchange, binding]);
  assert.deepEqual([...boots.upTo({ node: 'n2', boot: 9 })], []);
  for (const object of [...others, queue, exchange]) boots.remove(object);
  assert.deepEqual([...boots.all()], [{ ...second, objects: new Set([binding]) }]);
  boots.remove(binding);
  assert.deepEqual([...boots.all()], []);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolicyObject } from '../../../src/model/wiring/objects.js';
import { decodeObject, encodeObject } from '../../../src/model/wiring/objects.js';
import type { WiringOperation } from '../../../src/model/wiring/operations.js';
import { declareQueue, InstantWiring } from '../model-wiring/support.js';

type Fields = Partial<Omit<PolicyObject, 'kind' | 'position'>>;

function setPolicy(name: string, fields: Fields = {}): WiringOperation {
  const policy = {
    vhost: '/',
    name,
    pattern: '',
    priority: 0,
    applyTo: 'all',
    definition: { 'min-in-sync': 2 },
  } as const;
  return { op: 'setPolicy', policy: { ...policy, ...fields } };
}

function clearPolicy(name: string): WiringOperation {
  return { op: 'clearPolicy', vhost: '/', name };
}

function minInSync(wiring: InstantWiring, queue: string): number {
  return wiring.tables.settings.of(wiring.tables.queue('/', queue)!).minInSync;
}

test('the argument goes first, then the policy of the highest priority, then the default', () => {
  const wiring = new InstantWiring();
  wiring.done(declareQueue('orders'));
  wiring.done(declareQueue('orders.own', { arguments: { 'x-min-in-sync': 1 } }));
  wiring.done(declareQueue('other'));
  assert.equal(minInSync(wiring, 'orders'), 1);
  wiring.tables.settings.defaults = { minInSync: 2, replicate: 'all' };
  assert.equal(minInSync(wiring, 'orders'), 2);
  wiring.done(setPolicy('three', { pattern: '^orders', definition: { 'min-in-sync': 3 } }));
  assert.equal(minInSync(wiring, 'orders'), 3);
  assert.equal(minInSync(wiring, 'orders.own'), 1);
  assert.equal(minInSync(wiring, 'other'), 2);
  wiring.done(setPolicy('one', { pattern: '^orders', priority: 1, definition: { 'min-in-sync': 1 } }));
  assert.equal(minInSync(wiring, 'orders'), 1);
  // A queue that comes later.
  wiring.done(declareQueue('orders.new'));
  assert.equal(minInSync(wiring, 'orders.new'), 1);
  wiring.done(clearPolicy('one'));
  assert.equal(minInSync(wiring, 'orders'), 3);
  wiring.done(clearPolicy('three'));
  assert.equal(minInSync(wiring, 'orders'), 2);
});

test('of equal priority the first by name applies, whole: definitions are not mixed', () => {
  const wiring = new InstantWiring();
  wiring.done(declareQueue('q'));
  wiring.done(setPolicy('b', { definition: { 'min-in-sync': 3 } }));
  wiring.done(setPolicy('a', { definition: { 'min-in-sync-timeout': 5 } }));
  assert.equal(minInSync(wiring, 'q'), 1);
  assert.equal(wiring.tables.settings.of(wiring.tables.queue('/', 'q')!).timeoutMs, 5);
});

test('policies for exchanges leave queues alone', () => {
  const wiring = new InstantWiring();
  wiring.done(declareQueue('q'));
  assert.match(
    wiring.refused(setPolicy('p', { applyTo: 'exchanges' })),
    /'min-in-sync' is for queues, the policy is applied to exchanges/,
  );
  wiring.done(setPolicy('p', { applyTo: 'queues' }));
  assert.equal(minInSync(wiring, 'q'), 2);
});

test('setting a policy again replaces it; the same again changes nothing', () => {
  const wiring = new InstantWiring();
  wiring.done(declareQueue('q'));
  const first = wiring.done(setPolicy('p'));
  assert.equal(wiring.done(setPolicy('p')).position, first.position);
  const second = wiring.done(setPolicy('p', { definition: { 'min-in-sync': 3 } }));
  assert.notEqual(second.position, first.position);
  assert.deepEqual(
    wiring.deleted.map((object) => object.position),
    [first.position],
  );
  assert.equal(minInSync(wiring, 'q'), 3);
  assert.equal(wiring.tables.count('policy'), 1);
  wiring.done(clearPolicy('p'));
  wiring.done(clearPolicy('p'));
  assert.equal(wiring.tables.count('policy'), 0);
});

test('a replacement that was interrupted leaves the newer one, and the next one clears both away', () => {
  for (const order of [0, 1]) {
    const wiring = new InstantWiring();
    wiring.done(declareQueue('q'));
    const policy = { kind: 'policy', vhost: '/', name: 'p', pattern: '', priority: 0, applyTo: 'all' } as const;
    const two: PolicyObject[] = [
      { ...policy, position: 50, definition: { 'min-in-sync': 2 } },
      { ...policy, position: 60, definition: { 'min-in-sync': 3 } },
    ];
    if (order === 1) two.reverse();
    for (const object of two) wiring.tables.appeared(object.position, object);
    wiring.lsn = 60;
    assert.equal(minInSync(wiring, 'q'), 3);
    assert.equal([...wiring.tables.policies.of('policy').all()].length, 1);
    wiring.done(clearPolicy('p'));
    assert.equal(minInSync(wiring, 'q'), 1);
    assert.equal(wiring.tables.count('policy'), 0);
  }
});

test('what makes no sense is refused, with what is allowed', () => {
  const wiring = new InstantWiring();
  const cases: [fields: Fields, reason: RegExp][] = [
    [{ vhost: 'nowhere' }, /not-found: no vhost 'nowhere'/],
    [{ name: '' }, /a name is missing/],
    [{ name: 'é'.repeat(200) }, /longer than 255 bytes/],
    [{ pattern: '(' }, /no regular expression that can be used: a '\(' without its '\)'/],
    [{ priority: 1.5 }, /'priority' is no integer/],
    [{ priority: 2 ** 40 }, /'priority' is no integer/],
    [{ applyTo: 'everything' as never }, /'apply-to' is none of queues, exchanges, all/],
    [{ definition: {} }, /sets nothing: it may have min-in-sync,/],
    [{ definition: { 'ha-mode': 'all' } }, /'ha-mode' is no key of a policy's definition: it may have min-in-sync,/],
    [{ definition: JSON.parse('{"__proto__": 1}') as never }, /'__proto__' is no key/],
    [{ definition: { 'min-in-sync': '2' } }, /'min-in-sync' is '2': an integer from 1 to 31 is expected/],
    [{ definition: { 'min-in-sync': 4 } }, /is 4, and queues have 3 replicas/],
    [{ definition: { 'min-in-sync': [2] as never } }, /must be a text, a number or true or false/],
  ];
  for (const [fields, reason] of cases) assert.match(wiring.refused(setPolicy('p', fields)), reason);
  assert.equal(wiring.tables.count('policy'), 0);
  assert.match(
    wiring.refused(declareQueue('q', { arguments: { 'x-min-in-sync': 4 } })),
    /invalid arg 'x-min-in-sync' for queue 'q' .*: 4 was received, and it has 3 replicas/,
  );
});

test('policies are for clusters of which all nodes know them', () => {
  const wiring = new InstantWiring();
  wiring.version = 1;
  assert.match(wiring.refused(setPolicy('p')), /while the cluster speaks protocol version 1: it takes 2/);
});

test('policies are limited in number', () => {
  const wiring = new InstantWiring();
  for (let i = 0; i < 1000; i++) wiring.done(setPolicy(`p${i}`));
  assert.match(wiring.refused(setPolicy('one more')), /the limit of 1000 is reached/);
  wiring.done(setPolicy('p7', { priority: 7 }));
});

test('a policy is what it was after its way through the log', () => {
  const policy: PolicyObject = {
    kind: 'policy',
    position: 0,
    vhost: '/',
    name: 'p',
    pattern: '^a\\.',
    priority: -3,
    applyTo: 'queues',
    definition: { 'min-in-sync': 2, 'min-in-sync-below': 'refuse' },
  };
  assert.deepEqual(decodeObject(encodeObject(policy)), policy);
});

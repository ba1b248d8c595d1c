import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal, RefusedError } from '../../../src/base/errors.js';
import { currentTimeoutMs, QueueAccess, waitingMax } from '../../../src/cluster/client/queue-access.js';
import { WiringTables } from '../../../src/model/wiring/tables.js';
import { ManualClock } from '../../fakes/manual-clock.js';

function setUp() {
  const clock = new ManualClock();
  const tables = new WiringTables();
  const state = { current: true };
  const access = new QueueAccess({ tables, clock, isCurrent: () => state.current });
  const declare = (name: string, position: number): void =>
    tables.appeared(position, {
      kind: 'queue',
      position: 0,
      vhost: '/',
      name,
      durable: true,
      owner: '',
      autoDelete: false,
      arguments: {},
      group: 1,
    });
  return { clock, state, access, declare };
}

const refused =
  (kind: string) =>
  (error: unknown): boolean =>
    error instanceof RefusedError && error.kind === kind;

test('a node that is current says at once that there is no such queue', async () => {
  const { access } = setUp();
  assert.throws(() => access.find('/', 'q'), refused(Refusal.notFound));
  await assert.rejects(access.found('/', 'q'), refused(Refusal.notFound));
});

test('one whose wiring may be old waits until it is current, and looks again', async () => {
  const { clock, state, access, declare } = setUp();
  state.current = false;
  assert.equal(access.find('/', 'q'), undefined);
  const found = access.found('/', 'q');
  const notFound = access.found('/', 'other');
  declare('q', 7);
  clock.advance(500);
  state.current = true;
  clock.advance(20);
  assert.equal((await found).position, 7);
  await assert.rejects(notFound, refused(Refusal.notFound));
});

test("what it knows it does not use either: it may be deleted, and its name another queue's", async () => {
  const { clock, state, access, declare } = setUp();
  declare('q', 7);
  assert.equal(access.usable('/', 'q', 'n1/1/1')?.position, 7);
  state.current = false;
  assert.equal(access.usable('/', 'q', 'n1/1/1'), undefined);
  const usable = access.usableSoon('/', 'q', 'n1/1/1');
  declare('q', 9);
  state.current = true;
  clock.advance(20);
  assert.equal((await usable).position, 9);
});

test('nobody waits for ever, nor without limit, nor for a node that stops', async () => {
  const { clock, state, access } = setUp();
  state.current = false;
  const first = access.found('/', 'q');
  clock.advance(currentTimeoutMs + 20);
  await assert.rejects(first, refused(Refusal.internalError));
  const many = Array.from({ length: waitingMax }, () => access.current());
  await assert.rejects(access.current(), refused(Refusal.resourceError));
  access.close();
  const outcomes = await Promise.allSettled(many);
  assert.ok(
    outcomes.every((outcome) => outcome.status === 'rejected' && refused(Refusal.internalError)(outcome.reason)),
  );
  await assert.rejects(access.current(), refused(Refusal.internalError));
});

/** Requests at /management about more than there may be in a turn, or in an answer. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Asker, perform } from '../../../src/amqp10/management/operations.js';
import { hashOf } from '../../../src/amqp10/management/path.js';
import type { Binding } from '../../../src/model/broker.js';

const ends = { vhost: '/', source: 'e', destination: 'q', destinationKind: 'queue', routingKey: '' } as const;

/** Of a broker with so many bindings that differ in their arguments only. */
function asker(count: number): { asker: Asker; turns: () => number; unbound: Binding[] } {
  const bindings: Binding[] = Array.from({ length: count }, (_, n) => ({ ...ends, arguments: { n } }));
  const unbound: Binding[] = [];
  let turns = 0;
  const one = {
    vhost: '/',
    id: 1,
    broker: {
      bindingsTo: () => bindings,
      isTopicExchange: () => false,
      wiring: { unbind: async (binding: Binding) => void unbound.push(binding) },
    },
    permissions: { require: () => {} },
    clock: {
      after: (_ms: number, run: () => void) => {
        turns++;
        setImmediate(run);
      },
    },
  };
  return { asker: one as unknown as Asker, turns: () => turns, unbound };
}

const list = { id: undefined, method: 'GET', to: '/bindings?src=e&dstq=q&key=', body: null };

it('an answer has as many bindings as it may have, and takes several turns', async () => {
  const few = asker(1000);
  const { status, body } = await perform(few.asker, list);
  assert.equal(status, '200');
  assert.equal((body as unknown[]).length, 1000);
  assert.ok(few.turns() > 5);
  await assert.rejects(perform(asker(2000).asker, list), /2000 bindings: an answer has 1024 at most/);
});

it('of many bindings the one with those arguments is unbound, a few looked at in a turn', async () => {
  const many = asker(5000);
  const to = `/bindings/src=e;dstq=q;key=;args=${hashOf({ n: 4000 })}`;
  assert.equal((await perform(many.asker, { id: undefined, method: 'DELETE', to, body: null })).status, '204');
  assert.deepEqual(many.unbound, [{ ...ends, arguments: { n: 4000 } }]);
  assert.ok(many.turns() > 20);
});

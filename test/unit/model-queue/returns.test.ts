import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { encodeReturned, forEachReturned, RecordKind, returnedLength } from '../../../src/log/record.js';
import { outboxIncarnation } from '../../../src/model/queue/outbox.js';
import { Returns, returnsMax } from '../../../src/model/returns.js';
import { bodies, heldBy, publish, q, queueWith, subscribe, Traits } from './service-support.js';
import { TestClient, TestPrimary } from './support.js';

const to = { vhost: '/', queue: 'q', exchange: 'graves', routingKey: undefined };

describe('a queue that counts how often messages come back', () => {
  it('tells it with each delivery, and lets go of what came back too often', () => {
    const { primary, client, port } = queueWith({ countsReturns: true, returnsMax: 2, deadLettering: to });
    publish(port, 1, 2, { durable: true });
    subscribe(port, 1, 1);
    for (let round = 0; round < 3; round++) {
      primary.run();
      const [message] = client.take();
      assert.equal(message!.body, 'm1');
      assert.equal(message!.redelivered, round > 0);
      port.requeue(q, message!.position, true);
      port.grant(1, 1);
    }
    primary.run();
    assert.deepEqual(client.bodies(), ['m2']);
    assert.deepEqual(client.returns, [0, 1, 2, 0]);
    assert.deepEqual([bodies(primary, q), bodies(primary, outboxIncarnation)], [['m2'], ['m1']]);
    assert.equal(primary.state.returns.size, 0);
  });

  it('does not count what no client has seen', () => {
    const { primary, client, port } = queueWith({ countsReturns: true });
    publish(port, 1, 1, { durable: true });
    subscribe(port, 1, 1);
    primary.run();
    port.requeue(q, client.take()[0]!.position, false);
    port.grant(1, 1);
    primary.run();
    assert.deepEqual(client.returns, [0, 0]);
  });

  it('goes on counting on the next primary, which counts what a dead node held', () => {
    const { primary, client, port } = queueWith({ countsReturns: true });
    publish(port, 1, 1, { durable: true });
    subscribe(port, 1, 1);
    primary.run();
    port.requeue(q, client.take()[0]!.position, true);
    port.grant(1, 1);
    primary.run();
    const held = heldBy(client);
    primary.service.close();
    const traits = new Traits([q, { countsReturns: true }]);
    const next = new TestPrimary({ previous: primary, epoch: 2, traits });
    next.log.version = 3;
    next.attach(new TestClient(), 'a', 1, held);
    const other = new TestClient();
    subscribe(next.attach(other, 'b', 2), 1, 5);
    next.run();
    assert.deepEqual(other.returns, []);
    next.service.reap('a', 1);
    next.run();
    assert.deepEqual(other.returns, [2]);
  });
});

describe('counts of returns', () => {
  it('only grow, go with their message or queue, and are few', () => {
    const returns = new Returns();
    returns.note(1, 10, 2);
    returns.note(1, 10, 1);
    returns.note(1, 11, 1);
    returns.note(2, 12, 7);
    assert.deepEqual([returns.of(1, 10), returns.size], [2, 3]);
    const other = new Returns();
    other.note(9, 9, 9);
    other.replace(returns.list());
    assert.deepEqual(other.list(), returns.list());
    returns.forget(1, 10);
    returns.forget(1, 10);
    returns.forgetQueue(2);
    assert.deepEqual(returns.list(), [[1, 11, 1]]);
    for (let position = 0; position < 20_000; position++) other.note(3, position, 1);
    assert.equal(other.size, 16_384);
    assert.deepEqual([other.of(3, 19_999), other.of(1, 10)], [1, 0]);
  });

  it('are forgotten of what came back longest ago, whichever its queue, and on other replicas so too', () => {
    const returns = new Returns();
    for (let position = 1; position <= returnsMax; position++) returns.note(1 + (position % 2), position, 1);
    returns.note(2, 1, 2);
    const other = new Returns();
    other.replace(returns.list());
    for (const one of [returns, other]) {
      one.note(3, 1, 1);
      one.note(2, returnsMax + 1, 1);
      assert.equal(one.size, returnsMax);
      assert.deepEqual([one.of(1, 2), one.of(2, 3)], [0, 0]);
      assert.deepEqual([one.of(2, 1), one.of(1, 4), one.of(2, 5), one.of(3, 1)], [2, 1, 1, 1]);
    }
  });

  it('are kept for messages that a join brings later, and go with those that it brings no more', () => {
    const { primary, client, port } = queueWith({ countsReturns: true });
    publish(port, 1, 2, { durable: true });
    subscribe(port, 1, 2);
    primary.run();
    const positions = client.take().map(({ position }) => position);
    const { state } = primary;
    const bytes = new Uint8Array(returnedLength(2));
    const view = new DataView(bytes.buffer);
    encodeReturned(bytes, view, 0, q, positions, [3, 4], true);
    // As on a replica that has neither yet.
    state.remove(q, positions);
    state.noteReturns(view, 0);
    assert.equal(state.returns.size, 0);
    state.isFilling = true;
    state.noteReturns(view, 0);
    state.remove(q, [positions[0]!]);
    assert.deepEqual(state.returns.list(), [[q, positions[1], 4]]);
  });

  it('are in the log', () => {
    const { primary, client, port } = queueWith({ countsReturns: true });
    publish(port, 1, 1, { durable: true });
    subscribe(port, 1, 1);
    primary.run();
    const [message] = client.take();
    port.requeue(q, message!.position, true);
    primary.run();
    const { chunk } = primary.log;
    const found: [number, number][] = [];
    for (let at = 0; at < primary.log.offset; at += chunk.view!.getUint32(at, true))
      if (chunk.bytes![at + 4] === RecordKind.returned)
        forEachReturned(chunk.view!, at, (position, count) => found.push([position, count]));
    assert.deepEqual(found, [[message!.position, 1]]);
  });
});

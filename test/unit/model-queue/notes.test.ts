import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Modification } from '../../../src/model/broker.js';
import { opaqueHeaders } from '../../../src/model/dead-letter/death.js';
import { annotationBytesMax, Returns } from '../../../src/model/returns.js';
import { heldBy, publish, q, queueWith, subscribe } from './service-support.js';
import { TestClient, TestPrimary } from './support.js';

describe('what clients note of messages that they give back', () => {
  /** A header is what was noted. */
  const headers = { ...opaqueHeaders, annotated: (_: unknown, notes: Uint8Array) => notes.slice() };
  const noted = (...annotations: number[]): Modification => ({
    isCounted: false,
    annotations: Uint8Array.from(annotations),
  });

  it('comes with the next deliveries, on the next primary too, and goes with the message', () => {
    const { primary, client, port } = queueWith({ countsReturns: true }, { headers });
    publish(port, 1, 2, { durable: true });
    subscribe(port, 1, 1);
    primary.run();
    for (const note of [7, 8]) {
      port.modify(q, client.take()[0]!.position, noted(note));
      port.grant(1, 1);
      primary.run();
    }
    assert.deepEqual(client.headers.slice(1), [[7], [7, 8]]);
    assert.deepEqual(client.returns, [0, 0, 0]);
    const held = heldBy(client);
    primary.service.close();
    const next = new TestPrimary({ previous: primary, epoch: 2, headers });
    next.log.version = 3;
    const other = new TestClient();
    const again = next.attach(other, 'a', 1, held);
    subscribe(again, 1, 1);
    next.run();
    again.modify(q, held[0]!.position, noted(9));
    again.requeue(q, other.take()[0]!.position, false);
    again.grant(1, 1);
    next.run();
    assert.deepEqual(other.headers.at(-1), [7, 8, 9]);
    again.ack(q, held[0]!.position);
    next.run();
    assert.deepEqual([next.state.returns.size, next.state.returns.annotated], [0, 0]);
  });

  it('is said by who holds the message, and of nothing else', () => {
    const { primary, client, port } = queueWith({}, { headers });
    publish(port, 1, 1, { durable: true });
    subscribe(port, 1, 1);
    primary.run();
    const [message] = client.take();
    port.ack(q, message!.position);
    port.modify(q, message!.position, noted(7));
    port.modify(q + 1, message!.position, noted(7));
    primary.run();
    assert.equal(primary.state.returns.annotated, 0);
  });

  it('is the newest known, whichever way it comes, and has a bound', () => {
    const returns = new Returns();
    const bytes = (length: number): Uint8Array => new Uint8Array(length).fill(length & 0xff);
    returns.note(1, 10, 0, { revision: 2, annotations: bytes(20) });
    returns.note(1, 10, 0, { revision: 1, annotations: bytes(10) });
    returns.note(1, 10, 4);
    assert.deepEqual([returns.of(1, 10), returns.annotatedOf(1, 10)?.annotations], [4, bytes(20)]);
    const other = new Returns();
    other.merge(returns.list());
    other.merge([[1, 10, 1]]);
    assert.deepEqual(other.list(), returns.list());
    for (let position = 100; position < 200; position++)
      other.note(2, position, 1, { revision: 1, annotations: bytes(annotationBytesMax) });
    assert.equal(other.annotated, 32);
    assert.deepEqual([other.annotatedOf(1, 10), other.of(2, 199)], [undefined, 1]);
    other.forgetQueue(2);
    assert.deepEqual([other.annotated, other.size], [0, 0]);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { epochStart, type Lsn } from '../../../src/log/lsn.js';
import { entriesMax, HandOver } from '../../../src/model/group-service/hand-over.js';
import { Naming } from '../../../src/model/group-port.js';
import { heldBy, publish, subscribe } from './service-support.js';
import { TestClient, TestPrimary } from './support.js';

const [first, second]: Lsn[] = [10, 11];

/** A primary of epoch 1 with two queues, the same messages in both. */
function setUp(messages: number) {
  const primary = new TestPrimary();
  for (const queue of [first!, second!]) primary.openQueue(queue);
  const client = new TestClient();
  const port = primary.attach(client);
  publish(port, 1, messages, { queues: [first!, second!] });
  primary.run();
  return { primary, client, port };
}

/** The group moves: the primary of the next epoch, which is told what was handed out, and the pieces that say it. */
function move(previous: TestPrimary): { primary: TestPrimary; pieces: readonly Uint8Array[] } {
  let pieces: readonly Uint8Array[] = [];
  previous.service.pause();
  previous.run();
  assert.ok(previous.service.isDrained);
  previous.service.writeHandOver((written) => (pieces = written));
  previous.run();
  previous.service.close();
  const handedOver = new HandOver();
  for (const piece of pieces) handedOver.add(piece);
  for (const work of handedOver.apply(previous.state)) assert.ok(work > 0);
  const epoch = previous.service.epoch + 1;
  return { primary: new TestPrimary({ previous, handedOver, epoch, open: false }), pieces };
}

/** All that is delivered of a queue, as `m1`, or `m1!` if it is flagged. */
function deliveries(client: TestClient): string[] {
  return client.take().map(({ body, redelivered }) => body + (redelivered ? '!' : ''));
}

describe('what is passed on with a group', () => {
  it('flags what was held and nobody names, and nothing else, however often the group moves', () => {
    const { primary, client, port } = setUp(3);
    subscribe(port, 1, 2, { queue: first! });
    primary.run();
    const held = heldBy(client);
    assert.deepEqual(deliveries(client), ['m1', 'm2']);

    const { primary: next } = move(primary);
    // It names one of two. Of the second queue nothing was handed out.
    const again = new TestClient();
    const port2 = next.attach(again, 'a', 1, held.slice(0, 1), 3);
    next.service.open();
    subscribe(port2, 2, 1, { queue: first! });
    subscribe(port2, 3, 1, { queue: second! });
    next.run();
    assert.deepEqual(deliveries(again).sort(), ['m1', 'm2!']);

    const { primary: last } = move(next);
    const other = new TestClient();
    const port3 = last.attach(other, 'b');
    last.service.open();
    last.run();
    subscribe(port3, 1, 9, { queue: first! });
    last.run();
    assert.deepEqual(deliveries(other), ['m1!', 'm2!', 'm3']);
    subscribe(port3, 2, 9, { queue: second! });
    last.run();
    assert.deepEqual(deliveries(other), ['m1!', 'm2', 'm3']);
    assert.equal(last.service.flagBefore, epochStart(1), 'the line of the first');

    last.service.close();
    const after = new TestPrimary({ previous: last, epoch: 4 });
    const taker = new TestClient();
    const port4 = after.attach(taker);
    for (const [i, queue] of [first!, second!].entries()) subscribe(port4, i, 9, { queue });
    after.run();
    const bodies = ['m1!', 'm1!', 'm2!', 'm2!', 'm3!', 'm3!'];
    assert.deepEqual(deliveries(taker).sort(), bodies, 'nothing was passed on');
  });

  it('flags what a node has given back unseen, if the last primary gave it to another since', () => {
    const { primary, client, port } = setUp(1);
    subscribe(port, 1, 1, { queue: first! });
    primary.run();
    const [message] = heldBy(client);
    const { primary: next } = move(primary);
    // Node a, which has it by now, dies before it can say so; node b does not know yet that it was told.
    const other = new TestClient();
    const port2 = next.attach(other, 'b', 2, [{ ...message!, naming: Naming.released }]);
    next.service.open();
    subscribe(port2, 1, 1, { queue: first! });
    next.run();
    assert.deepEqual(deliveries(other), ['m1!']);
  });

  it('comes in as many pieces as it needs, with the same line in each', () => {
    const count = entriesMax + 10;
    const { primary, client, port } = setUp(count);
    for (const [i, queue] of [first!, second!].entries()) subscribe(port, i, count, { queue });
    primary.run();
    assert.equal(client.take().length, 2 * count);
    const { primary: next, pieces } = move(primary);
    assert.equal(pieces.length, 3);
    const other = new TestClient();
    const port2 = next.attach(other, 'b');
    next.service.open();
    next.run();
    for (const [i, queue] of [first!, second!].entries()) subscribe(port2, i, 2 * count, { queue });
    next.run();
    const given = other.take();
    assert.equal(given.length, 2 * count);
    assert.ok(given.every(({ redelivered }) => redelivered));
  });
});

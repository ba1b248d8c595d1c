import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { rulesWithout } from '../../../src/base/rules.js';
import { epochStart } from '../../../src/log/lsn.js';
import { heldBy, publish, q, setUp, subscribe } from './service-support.js';
import { TestClient, TestPrimary } from './support.js';
import { Naming } from '../../../src/model/group-port.js';

describe('attachments (rule 13)', () => {
  test('after a link loss what a node names stays held, the rest comes again flagged', () => {
    const { primary, client, port } = setUp();
    subscribe(port, 1, 3);
    publish(port, 1, 4);
    primary.run();
    const held = heldBy(client);
    primary.service.detach('a', 1);
    const other = new TestClient();
    subscribe(primary.attach(other, 'b', 2), 1, 10);
    primary.run();
    assert.deepEqual(other.bodies(), ['m4']);
    port.ack(q, held[0]!.position);
    const again = new TestClient();
    const second = primary.attach(again, 'a', 1, [held[0]!, held[2]!]);
    port.ack(q, held[0]!.position);
    primary.run();
    assert.deepEqual(
      other.take().map(({ body, redelivered }) => [body, redelivered]),
      [['m2', true]],
    );
    second.ack(q, held[0]!.position);
    second.requeue(q, held[2]!.position, false);
    primary.run();
    assert.equal(again.settledCount, 2);
    assert.deepEqual(
      other.take().map(({ body, redelivered }) => [body, redelivered]),
      [['m3', true]],
    );
  });

  test('what a dead node held comes again flagged, and its consumers are gone', () => {
    const { primary, client, port } = setUp();
    subscribe(port, 1, 2, { exclusive: true });
    publish(port, 1, 2);
    primary.run();
    assert.equal(client.take().length, 2);
    const other = new TestClient();
    const otherPort = primary.attach(other, 'b', 2);
    primary.service.detach('a', 1);
    subscribe(otherPort, 1, 10);
    primary.service.reap('a', 0);
    subscribe(otherPort, 2, 10);
    assert.deepEqual(primary.unused, []);
    primary.service.reap('a', 1);
    assert.deepEqual(primary.unused, [q]);
    subscribe(otherPort, 3, 10);
    primary.run();
    assert.deepEqual(other.events, [
      'subscribed 1 access-refused: in exclusive use',
      'subscribed 2 access-refused: in exclusive use',
      'subscribed 3',
    ]);
    assert.deepEqual(
      other.take().map(({ body, redelivered }) => [body, redelivered]),
      [
        ['m1', true],
        ['m2', true],
      ],
    );
  });

  test('a node that attaches again has time to subscribe again before its queue is unused', () => {
    const { primary, port } = setUp();
    subscribe(port, 1, 2);
    primary.openQueue(20);
    subscribe(port, 2, 2, { queue: 20 });
    const second = primary.attach(new TestClient());
    subscribe(second, 1, 2);
    primary.clock.advance(4999);
    assert.deepEqual(primary.unused, []);
    primary.clock.advance(1);
    assert.deepEqual(primary.unused, [20]);
  });

  test('a queue is not unused as long as another node may have a consumer of it that it has not told of again', () => {
    const { primary, port } = setUp();
    subscribe(port, 1, 2);
    const before = primary.attach(new TestClient(), 'b', 2);
    subscribe(before, 1, 2);
    const again = primary.attach(new TestClient(), 'b', 2);
    port.unsubscribe(1);
    primary.run();
    assert.deepEqual(primary.unused, []);
    subscribe(again, 1, 2);
    primary.clock.advance(5000);
    assert.deepEqual(primary.unused, []);
    again.unsubscribe(1);
    assert.deepEqual(primary.unused, [q]);
  });

  test('nor is it after a take-over, before the nodes have had time to subscribe again', () => {
    const old = setUp();
    old.primary.service.close();
    const primary = new TestPrimary({ previous: old.primary, epoch: 2 });
    const [port, other] = [primary.attach(new TestClient(), 'a', 1), primary.attach(new TestClient(), 'b', 2)];
    subscribe(port, 1, 2);
    port.unsubscribe(1);
    primary.clock.advance(4999);
    assert.deepEqual(primary.unused, []);
    subscribe(other, 1, 2);
    primary.openQueue(20);
    subscribe(port, 2, 2, { queue: 20 });
    port.unsubscribe(2);
    assert.deepEqual(primary.unused, [20], 'of a queue that was not there before everything is known');
    primary.clock.advance(1);
    assert.deepEqual(primary.unused, [20]);
  });

  test('a take-over flags what older epochs may have handed out, and waits for all before it delivers', () => {
    const old = setUp();
    subscribe(old.port, 1, 2);
    publish(old.port, 1, 4);
    old.primary.run();
    const held = heldBy(old.client);
    old.primary.service.close();
    const primary = new TestPrimary({ previous: old.primary, epoch: 2, open: false });
    const client = new TestClient();
    const port = primary.attach(client, 'a', 1, [held[1]!, { incarnation: 99, position: 1, naming: Naming.held }], 4);
    subscribe(port, 1, 10);
    publish(port, 5, 5);
    primary.run();
    assert.deepEqual(client.take(), []);
    primary.service.open();
    primary.run();
    assert.deepEqual(
      client.take().map(({ body, redelivered }) => `${body}${redelivered ? ' again' : ''}`),
      ['m1 again', 'm3 again', 'm4 again', 'm5'],
    );
    port.ack(q, held[1]!.position);
    primary.run();
    assert.equal(client.settledCount, 1);
    assert.ok(primary.state.applied > epochStart(2));
  });

  test('auto-delete waits for the gate too', () => {
    const primary = new TestPrimary({ open: false });
    primary.openQueue(q);
    const port = primary.attach(new TestClient());
    subscribe(port, 1, 1);
    port.unsubscribe(1);
    primary.run();
    assert.deepEqual(primary.unused, []);
    primary.service.open();
    assert.deepEqual(primary.unused, [q]);
  });

  test('the wiring hears of first consumers, and after a take-over of queues that have none', () => {
    const old = setUp();
    for (const queue of [20, 30, 40]) old.primary.openQueue(queue);
    subscribe(old.port, 1, 1);
    subscribe(old.port, 2, 1);
    subscribe(old.port, 3, 1, { queue: 20 });
    old.port.unsubscribe(3);
    subscribe(old.port, 4, 1, { queue: 20 });
    assert.deepEqual(old.primary.uses, [`used ${q}`, 'used 20', 'used 20']);
    old.primary.clock.advance(10_000);
    assert.deepEqual(old.primary.uses.length, 3, 'the first primary has seen all of them');
    old.primary.service.close();
    const primary = new TestPrimary({ previous: old.primary, epoch: 2, open: false });
    const port = primary.attach(new TestClient(), 'b', 2);
    primary.clock.advance(10_000);
    primary.service.open();
    subscribe(port, 1, 1, { queue: 30 });
    subscribe(port, 2, 1, { queue: 40 });
    port.unsubscribe(2);
    primary.clock.advance(4999);
    assert.deepEqual(primary.uses, ['used 30', 'used 40']);
    primary.clock.advance(1);
    assert.deepEqual(primary.uses.slice(2).sort(), [`idle ${q}`, 'idle 20']);
    assert.deepEqual(primary.unused, [40]);
    const holding = (): string[] => primary.told.filter((use) => use.holds()).map(({ kind }) => kind);
    assert.deepEqual(holding().sort(), ['idle', 'idle', 'unused', 'used', 'used']);
    subscribe(port, 3, 1, { queue: 40 });
    subscribe(port, 4, 1, { queue: 20 });
    assert.deepEqual(holding().sort(), ['idle', 'used', 'used', 'used', 'used']);
    primary.service.close();
    assert.deepEqual(holding(), ['used', 'used', 'used', 'used'], 'that it had one is true for ever');
  });

  test('a closed service forgets who holds what, and says nothing more', () => {
    const { primary, client, port } = setUp();
    subscribe(port, 1, 2);
    publish(port, 1, 3);
    primary.run();
    port.ack(q, client.take()[0]!.position);
    port.get(9, q, 0, true);
    client.events.length = 0;
    primary.service.close();
    primary.log.cut();
    port.ack(q, 1);
    publish(port, 4, 4);
    primary.run();
    const { index } = primary.state.queue(q)!;
    assert.deepEqual([index.size, index.ready, index.delivered], [3, 3, 0]);
    assert.equal(client.settledCount, 0);
    assert.deepEqual(client.events, []);
  });
});

describe('a rule left out', () => {
  test('dedupe: the log takes a publish twice', () => {
    const { primary, port } = setUp({ rules: rulesWithout('dedupe') });
    publish(port, 1, 2);
    publish(port, 1, 2);
    primary.run();
    assert.equal(primary.state.queue(q)!.index.size, 4);
  });

  test('deliverCommitted: messages go out before their commit', () => {
    const { primary, client, port } = setUp({ rules: rulesWithout('deliverCommitted') });
    subscribe(port, 1, 9);
    primary.commits = false;
    publish(port, 1, 1);
    primary.run();
    assert.deepEqual(client.bodies(), ['m1']);
    assert.equal(client.confirmedTo, 0);
  });

  test('requeueInPlace: what is given back comes last', () => {
    const { primary, client, port } = setUp({ rules: rulesWithout('requeueInPlace') });
    subscribe(port, 1, 1);
    publish(port, 1, 3);
    primary.run();
    port.requeue(q, client.take()[0]!.position, true);
    port.grant(1, 9);
    primary.run();
    assert.deepEqual(client.bodies(), ['m2', 'm3', 'm1']);
  });

  test('retryWaits: retries are answered before the commit', () => {
    const { primary, client, port } = setUp({ rules: rulesWithout('retryWaits') });
    primary.commits = false;
    publish(port, 1, 1);
    publish(port, 1, 1);
    primary.run();
    assert.equal(client.confirmedTo, 1);
  });
});

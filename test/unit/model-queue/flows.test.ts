import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FlowLimits, QueueTraits } from '../../../src/model/queue/queue-traits.js';
import { publish, q, queueWith, setUp, subscribe, Traits } from './service-support.js';
import { messageParts, TestClient, TestPrimary } from './support.js';

const never = Number.POSITIVE_INFINITY;
const limits: FlowLimits = { stopCount: 5, resumeCount: 3, stopBytes: never, resumeBytes: never };
const queueTraits: Partial<QueueTraits> = { flow: limits };

/** What nodes were told of flows, since the last call. */
function flows(client: TestClient): string[] {
  return client.flows.splice(0);
}

/** A client has everything in the queue; acknowledges the oldest ones. */
function acknowledging(primary: TestPrimary): (count: number) => void {
  const client = new TestClient();
  const port = primary.attach(client, 'consumer', 5);
  subscribe(port, 1, 100);
  primary.run();
  return (count) => {
    for (const { position } of client.deliveries.splice(0, count)) port.ack(q, position);
    primary.run();
  };
}

describe('a queue whose publishers wait when it is too full', () => {
  it('S22: says so to all nodes with the first message that is too much, and again when it has few', () => {
    const { primary, client, port } = queueWith(queueTraits);
    const other = new TestClient();
    primary.attach(other, 'b', 2);
    for (const told of [client, other]) flows(told);
    publish(port, 1, 5, { durable: true });
    assert.deepEqual(flows(client), []);
    publish(port, 6, 6, { durable: true });
    assert.deepEqual(flows(client), ['stop 10'], 'before anything is committed');
    publish(port, 7, 8, { durable: true });
    primary.run();
    assert.deepEqual([flows(client), flows(other)], [[], ['stop 10']]);
    const acknowledge = acknowledging(primary);
    acknowledge(5);
    assert.deepEqual(flows(client), [], 'three are left');
    primary.commits = false;
    acknowledge(1);
    assert.deepEqual(flows(client), [], 'it is not committed');
    primary.commits = true;
    primary.run();
    assert.deepEqual([flows(client), flows(other)], [['go 10'], ['go 10']]);
    publish(port, 9, 12, { durable: true });
    assert.deepEqual(flows(client), ['stop 10']);
  });

  it('S22: says so to a node that comes between the two, and on the next primary', () => {
    const { primary, port } = queueWith(queueTraits);
    publish(port, 1, 6, { durable: true });
    primary.run();
    const acknowledge = acknowledging(primary);
    acknowledge(2);
    const late = new TestClient();
    primary.attach(late, 'late', 9);
    assert.deepEqual(flows(late), ['stop 10 whole']);
    primary.service.close();

    for (const knows of [true, false]) {
      const next = new TestPrimary({ previous: primary, epoch: 2, traits: new Traits([q, queueTraits]), open: false });
      next.log.version = 3;
      const own = new TestClient();
      if (knows) own.stopped.push(q, 999);
      const expected = [knows ? 'stop 10 whole' : 'stop whole'];
      const other = new TestClient();
      next.attach(other, 'b', 2);
      next.attach(own, 'a', 1);
      next.run();
      assert.deepEqual(flows(other), [], 'nobody goes on before it is known what holds');
      next.service.open();
      next.run();
      assert.deepEqual([flows(own), flows(other)], [expected, expected]);
      next.service.close();
    }
  });

  it('notices that its messages leave, though they were on their way out when it was found too full', () => {
    const traits = new Traits();
    const { primary, client, port } = setUp({ traits, durable: true });
    primary.log.version = 3;
    publish(port, 1, 6, { durable: true });
    const acknowledge = acknowledging(primary);
    flows(client);
    primary.commits = false;
    acknowledge(6);
    traits.known.set(q, { ...traits.of(q), flow: limits });
    traits.version++;
    primary.service.advanceWiring(primary.state.wiringVersion + 1, 0);
    primary.run();
    assert.deepEqual(flows(client), ['stop 10']);
    primary.commits = true;
    primary.run();
    assert.deepEqual(flows(client), ['go 10']);
  });

  it('has its publishers go on though its limits came while a larger message was on its way', () => {
    const traits = new Traits();
    const { primary, client, port } = setUp({ traits, durable: true });
    const byBytes: FlowLimits = { stopCount: never, resumeCount: never, stopBytes: 50_000, resumeBytes: 40_000 };
    primary.commits = false;
    port.publish(messageParts('x'.repeat(100_000)), [q], true, 1, 0);
    primary.run();
    flows(client);
    traits.known.set(q, { ...traits.of(q), flow: byBytes });
    traits.version++;
    port.publish(messageParts('y'), [q], true, 2, 0);
    primary.run();
    primary.commits = true;
    primary.run();
    port.publish(messageParts('y'), [q], true, 3, 0);
    primary.run();
    assert.deepEqual(flows(client), ['stop 10'], 'it is in the queue, and too much');
    acknowledging(primary)(1);
    assert.deepEqual(flows(client), ['go 10']);
  });

  it('is found by a primary to which nobody says anything', () => {
    const { primary, port } = queueWith(queueTraits);
    publish(port, 1, 6, { durable: true });
    primary.run();
    primary.service.close();
    const next = new TestPrimary({ previous: primary, epoch: 2, traits: new Traits([q, queueTraits]), open: false });
    next.log.version = 3;
    const client = new TestClient();
    next.attach(client);
    next.service.open();
    next.run();
    assert.deepEqual(flows(client).at(-1), 'stop 10 whole');
  });

  it('counts bytes, and both limits must allow them to go on', () => {
    const both = { stopCount: 5, resumeCount: 3, stopBytes: 10, resumeBytes: 5 };
    const { primary, client, port } = queueWith({ flow: both });
    flows(client);
    port.publish(messageParts('12345678901'), [q], true, 1, 0);
    primary.run();
    assert.deepEqual(flows(client), ['stop 10']);
    publish(port, 2, 4, { durable: true });
    primary.run();
    const acknowledge = acknowledging(primary);
    acknowledge(1);
    assert.deepEqual(flows(client), [], 'three messages are too many, six bytes too');
    acknowledge(1);
    assert.deepEqual(flows(client), ['go 10']);
  });

  it('has them go on when it is gone, purged, or asks for nothing any more', () => {
    const ends: ((primary: TestPrimary, traits: Traits) => void)[] = [
      (primary) => primary.dropQueue(q),
      (primary) => primary.attach(new TestClient(), 'purger', 8).purge(1, q, 0),
      (primary, traits) => {
        traits.known.clear();
        traits.version++;
        primary.service.advanceWiring(primary.state.wiringVersion + 1, 0);
      },
    ];
    for (const end of ends) {
      const traits = new Traits([q, queueTraits]);
      const { primary, client, port } = setUp({ traits, durable: true });
      primary.log.version = 3;
      publish(port, 1, 6, { durable: true });
      primary.run();
      flows(client);
      end(primary, traits);
      primary.run();
      assert.deepEqual(flows(client), ['go 10']);
    }
  });

  it('says so when its policy changes, though nothing comes', () => {
    const traits = new Traits();
    const { primary, client, port } = setUp({ traits, durable: true });
    primary.log.version = 3;
    publish(port, 1, 6, { durable: true });
    primary.run();
    flows(client);
    traits.known.set(q, { ...traits.of(q), flow: limits });
    traits.version++;
    primary.service.advanceWiring(primary.state.wiringVersion + 1, 0);
    primary.run();
    assert.deepEqual(flows(client), ['stop 10']);
  });

  it('says nothing while older nodes could not be told', () => {
    const { primary, client, port } = queueWith(queueTraits);
    primary.log.version = 2;
    flows(client);
    publish(port, 1, 9, { durable: true });
    primary.run();
    assert.deepEqual(flows(client), []);
  });
});

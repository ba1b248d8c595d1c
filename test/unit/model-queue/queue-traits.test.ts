import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Lsn } from '../../../src/log/lsn.js';
import { RecordFlag, RecordKind } from '../../../src/log/record.js';
import type { QueueTraitsSource } from '../../../src/model/group-service/traits-of.js';
import { noTraits, type QueueTraits } from '../../../src/model/queue/queue-traits.js';
import { publish, subscribe } from './service-support.js';
import { TestClient, TestPrimary } from './support.js';

class Modes implements QueueTraitsSource {
  version = 0;
  readonly wiringVersion: Lsn = Number.POSITIVE_INFINITY;
  readonly relaxed = new Set<Lsn>();

  of(incarnation: Lsn): QueueTraits {
    return { ...noTraits, relaxed: this.relaxed.has(incarnation) };
  }

  set(incarnation: Lsn, relaxed: boolean): void {
    this.version++;
    if (relaxed) this.relaxed.add(incarnation);
    else this.relaxed.delete(incarnation);
  }
}

const [strict, relaxed, transient] = [1, 2, 3];

function setUp() {
  const modes = new Modes();
  modes.set(relaxed, true);
  const primary = new TestPrimary({ traits: modes });
  primary.openQueue(strict, true);
  primary.openQueue(relaxed, true);
  primary.openQueue(transient, false);
  const client = new TestClient();
  return { modes, primary, client, port: primary.attach(client) };
}

/** Flags of the last record of that kind. */
function flagsOf(primary: TestPrimary, kind: number): number {
  const { bytes, view } = primary.log.chunk;
  let flags = 0;
  for (let at = 0; at < primary.log.offset; at += view!.getUint32(at, true))
    if (bytes![at + 4] === kind) flags = bytes![at + 5]!;
  return flags;
}

function lastPublish(primary: TestPrimary): string {
  const flags = flagsOf(primary, RecordKind.enqueue);
  if ((flags & RecordFlag.durable) === 0) return 'transient';
  return (flags & RecordFlag.relaxed) === 0 ? 'synced' : 'relaxed';
}

describe('modes of queues', () => {
  test('a message is relaxed if all its durable queues are', () => {
    const { primary, port } = setUp();
    const cases: [queues: Lsn[], durable: boolean, expected: string][] = [
      [[strict], true, 'synced'],
      [[relaxed], true, 'relaxed'],
      [[relaxed, strict], true, 'synced'],
      [[relaxed, transient], true, 'relaxed'],
      [[relaxed], false, 'transient'],
      [[relaxed, 99], true, 'relaxed'],
    ];
    cases.forEach(([queues, durable, expected], i) => {
      publish(port, i + 1, i + 1, { queues, durable });
      assert.equal(lastPublish(primary), expected, `${queues}`);
    });
  });

  test('a change counts for the next message', () => {
    const { modes, primary, port } = setUp();
    publish(port, 1, 1, { queues: [relaxed], durable: true });
    modes.set(relaxed, false);
    publish(port, 2, 2, { queues: [relaxed], durable: true });
    assert.equal(lastPublish(primary), 'synced');
    modes.set(strict, true);
    publish(port, 3, 3, { queues: [strict], durable: true });
    assert.equal(lastPublish(primary), 'relaxed');
  });

  test('nothing is relaxed before those who elect can know of it', () => {
    const { primary, port } = setUp();
    primary.log.relaxing = false;
    publish(port, 1, 1, { queues: [relaxed], durable: true });
    assert.equal(lastPublish(primary), 'synced');
  });

  test('acknowledgements are as their queue is', () => {
    for (const [queue, expected] of [
      [strict, RecordFlag.durable],
      [relaxed, RecordFlag.durable | RecordFlag.relaxed],
    ] as const) {
      const { primary, client, port } = setUp();
      publish(port, 1, 1, { queues: [queue], durable: true });
      primary.run();
      subscribe(port, 1, 10, { queue });
      primary.run();
      port.ack(queue, client.deliveries[0]!.position);
      primary.run();
      assert.equal(flagsOf(primary, RecordKind.dequeue), expected);
    }
  });
});

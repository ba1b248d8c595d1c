/** Large messages on a group's primary: their parts are there as long as somebody needs them, and no longer. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fullSlices } from '../../../src/base/slices.js';
import { encodeManifest, encodePartHeader, manifestOf } from '../../../src/log/large.js';
import { EnqueueView, type MessageParts } from '../../../src/log/record.js';
import type { GroupServicePort } from '../../../src/model/group-port.js';
import { GroupRecovery } from '../../../src/model/group-recovery.js';
import { graceMs } from '../../../src/model/group-service/large-log.js';
import { GroupState } from '../../../src/model/group-state.js';
import { partsIncarnation } from '../../../src/model/queue/outbox.js';
import { q, setUp, subscribe } from './service-support.js';
import { messageParts, TestClient, TestPrimary } from './support.js';

const boot = 1;
const body = ['one', 'two', 'three'];
const size = body.join('').length;
const id = { boot, upload: 1 };

function part(text: string, index: number, upload = 1): MessageParts {
  const parts = messageParts(text);
  parts.setHeader(encodePartHeader(upload, index));
  return parts;
}

function message(count = body.length, bytes = size, from = boot): MessageParts {
  const parts = messageParts('');
  parts.large = true;
  parts.setBody(encodeManifest({ ...id, boot: from, count, size: bytes }));
  return parts;
}

/** Publishes the parts, from sequence 1 on; returns the next sequence. */
function upload(port: GroupServicePort, texts: readonly string[] = body): number {
  for (const [i, text] of texts.entries()) port.publish(part(text, i), [partsIncarnation], true, i + 1, 0);
  return texts.length + 1;
}

const parts = (primary: TestPrimary): number => primary.state.queue(partsIncarnation)?.index.size ?? 0;

/** A primary that has led for a while, with a durable queue, and a client that publishes. */
function begin(): ReturnType<typeof setUp> {
  const made = setUp({ durable: true });
  pass(made.primary, graceMs);
  return made;
}

function pass(primary: TestPrimary, ms: number): void {
  primary.clock.advance(ms);
  primary.run();
}

describe('a large message', () => {
  it('is delivered when all of it is there, read part by part, and gone with its parts when it was acknowledged', () => {
    const { primary, client, port } = begin();
    subscribe(port, 1, 10);
    const next = upload(port);
    primary.run();
    assert.equal(client.deliveries.length, 0);
    port.publish(message(), [q], true, next, 0);
    primary.run();
    assert.equal(client.confirmedTo, next);
    const { position } = client.take()[0]!;
    assert.equal(primary.state.queue(q)!.index.bodyBytes, size);
    port.readBody(7, id, 0, 2);
    port.readBody(7, id, 2, 1);
    primary.run();
    assert.deepEqual(client.bodyParts, ['7:0 one', '7:1 two', '7:2 three']);
    port.doneWithBody(id);
    port.ack(q, position);
    primary.run();
    assert.equal(parts(primary), 0);
    assert.equal(primary.state.large.size, 0);
    port.readBody(8, id, 0, 1);
    primary.run();
    assert.ok(client.events.includes('bodyGone 8'));
  });

  it('is refused without all of its parts, which go', () => {
    for (const { sent, manifest } of [
      { sent: body.slice(0, 2), manifest: message() },
      { sent: body, manifest: message(body.length, size + 1) },
      { sent: [], manifest: message() },
    ]) {
      const { primary, client, port } = begin();
      const next = upload(port, sent);
      port.publish(manifest, [q], true, next, 0);
      primary.run();
      assert.deepEqual(client.refused, [next]);
      assert.equal(primary.state.queue(q)!.index.size, 0);
      assert.equal(parts(primary), 0);
    }
  });

  it('keeps its parts as long as one queue has it, or a client reads it', () => {
    const { primary, client, port } = begin();
    primary.openQueue(11, true);
    subscribe(port, 1, 10, { noAck: true });
    const next = upload(port);
    port.publish(message(), [q, 11], true, next, 0);
    primary.run();
    assert.equal(client.take().length, 1);
    assert.equal(primary.state.queue(q)!.index.size, 0);
    port.doneWithBody(id);
    primary.run();
    assert.equal(parts(primary), 3);
    subscribe(port, 2, 10, { noAck: true, queue: 11 });
    primary.run();
    assert.equal(client.take().length, 1);
    assert.equal(primary.state.queue(11)!.index.size, 0);
    assert.equal(parts(primary), 3);
    port.doneWithBody(id);
    primary.run();
    assert.equal(parts(primary), 0);
  });

  it('takes as much credit as its body is large where nothing comes back', () => {
    for (const [noAck, delivered] of [
      [true, 2],
      [false, 5],
    ] as const) {
      const { primary, client, port } = begin();
      const text = 'x'.repeat(100_000);
      for (let i = 1; i <= 5; i++) {
        port.publish(part(text, 0, i), [partsIncarnation], true, 2 * i - 1, 0);
        const one = message();
        one.setBody(encodeManifest({ boot, upload: i, count: 1, size: text.length }));
        port.publish(one, [q], true, 2 * i, 0);
      }
      // One costs 25.
      subscribe(port, 1, 30, { noAck });
      primary.run();
      assert.equal(client.take().length, delivered);
    }
  });

  it('that nobody completes goes: given up, or of a node that is dead', () => {
    const { primary, port } = begin();
    let next = upload(port);
    const end = messageParts('');
    end.setHeader(encodePartHeader(1, 3, true));
    port.publish(end, [partsIncarnation], true, next++, 0);
    primary.run();
    assert.equal(parts(primary), 0);
    port.publish(part('x', 0, 2), [partsIncarnation], true, next++, 0);
    primary.run();
    assert.equal(parts(primary), 1);
    // Its last part is not committed when the node is given up.
    port.publish(part('y', 1, 2), [partsIncarnation], true, next++, 0);
    primary.service.reap('a', boot);
    primary.run();
    assert.equal(parts(primary), 0);
  });

  it('that is complete stays, also if its node is given up before it is committed', () => {
    const { primary, port } = begin();
    const next = upload(port);
    port.publish(message(), [q], true, next, 0);
    primary.service.reap('a', boot);
    primary.run();
    assert.equal(parts(primary), 3);
    assert.equal(primary.state.queue(q)!.index.size, 1);
  });

  it('is refused if its node was given up meanwhile, and attaches again before its parts are gone', () => {
    for (const areCommitted of [true, false]) {
      const { primary, port } = begin();
      primary.commits = areCommitted;
      const next = upload(port);
      primary.run();
      primary.service.reap('a', boot);
      if (!areCommitted) primary.run();
      const client = new TestClient();
      const again = primary.attach(client, 'a', boot, [], areCommitted ? next - 1 : 0);
      again.publish(message(), [q], true, next, 0);
      primary.run();
      primary.commits = true;
      pass(primary, 0);
      assert.equal(client.confirmedTo, next);
      assert.deepEqual(client.refused, [next]);
      assert.equal(primary.state.queue(q)!.index.size, 0);
      assert.equal(parts(primary), 0);
    }
  });

  it('is whole if it was taken while its node, given up before all nodes had attached, was on its way back', () => {
    const { primary, port } = begin();
    upload(port);
    primary.run();
    primary.service.close();
    const later = new TestPrimary({ previous: primary, epoch: 2 });
    later.attach(new TestClient(), 'a', boot, [], 3);
    later.service.reap('a', boot);
    later.run();
    const client = new TestClient();
    const again = later.attach(client, 'a', boot, [], 3);
    later.commits = false;
    again.publish(message(), [q], true, 4, 0);
    pass(later, graceMs);
    later.commits = true;
    pass(later, 0);
    assert.equal(client.confirmedTo, 4);
    assert.deepEqual(client.refused, []);
    assert.equal(later.state.queue(q)!.index.size, 1);
    assert.equal(parts(later), 3);
  });

  it('comes from a node that attaches when bodies are about to be looked at', () => {
    const { primary, port } = setUp({ durable: true });
    upload(port, body.slice(0, 1));
    primary.run();
    primary.service.close();
    const later = new TestPrimary({ previous: primary, epoch: 2 });
    const a = later.attach(new TestClient(), 'a', boot, [], 1);
    later.run();
    // What is looked at then waits for this to be committed.
    later.commits = false;
    a.publish(messageParts('x'), [q], true, 2, 0);
    pass(later, graceMs);
    const client = new TestClient();
    const other = later.attach(client, 'b', 2, [], 0);
    upload(other);
    later.run();
    later.commits = true;
    pass(later, 0);
    other.publish(message(body.length, size, 2), [q], true, 4, 0);
    pass(later, 0);
    assert.equal(client.confirmedTo, 4);
    assert.deepEqual(client.refused, []);
    assert.equal(later.state.queue(q)!.index.size, 2);
    assert.equal(parts(later), 4);
  });

  it('has no parts left when its queues are gone, or its queue is', () => {
    const { primary, port } = begin();
    let next = upload(port);
    port.publish(message(), [99], true, next++, 0);
    primary.run();
    assert.equal(parts(primary), 0);
    for (const [i, text] of body.entries()) port.publish(part(text, i, 2), [partsIncarnation], true, next++, 0);
    const other = message();
    other.setBody(encodeManifest({ boot, upload: 2, count: 3, size }));
    port.publish(other, [q], true, next++, 0);
    primary.run();
    assert.equal(parts(primary), 3);
    primary.dropQueue(q);
    assert.equal(parts(primary), 0);
  });

  it('goes with its parts a slice in a turn, where many are due at once', () => {
    const { primary, port } = begin();
    const count = 4096;
    let next = 1;
    for (const number of [1, 2, 3]) {
      for (let i = 0; i < count; i++) port.publish(part('x', i, number), [partsIncarnation], true, next++, 0);
      const one = message();
      one.setBody(encodeManifest({ boot, upload: number, count, size: count }));
      port.publish(one, [q], true, next++, 0);
    }
    primary.run();
    assert.equal(primary.state.queue(q)!.index.size, 3);
    primary.dropQueue(q);
    for (const left of [2, 1, 0]) {
      assert.equal(parts(primary), left * count);
      pass(primary, 0);
    }
  });

  it('leaves the next primary what the last one owed, but for what is read there', () => {
    const { primary, port } = begin();
    subscribe(port, 1, 10, { noAck: true });
    const next = upload(port);
    port.publish(message(), [q], true, next, 0);
    primary.run();
    primary.service.close();
    const later = new TestPrimary({ previous: primary, epoch: 2 });
    const client = new TestClient();
    const again = later.attach(client, 'a', boot, [], next);
    again.holdBody(id);
    pass(later, graceMs);
    assert.equal(parts(later), 3);
    again.readBody(1, id, 1, 2);
    later.run();
    assert.deepEqual(client.bodyParts, ['1:1 two', '1:2 three']);
    again.doneWithBody(id);
    later.run();
    assert.equal(parts(later), 0);
  });

  it('that a joiner takes for one that is on its way still goes when its node says that it is not', () => {
    const { primary, port } = begin();
    upload(port);
    primary.run();
    primary.service.close();
    for (const [open, left] of [
      [new Map([[1, Number.POSITIVE_INFINITY]]), 3],
      [new Map([[1, 4]]), 3],
      [new Map([[1, 3]]), 0],
    ] as const) {
      const later = new TestPrimary({ previous: primary, epoch: 2 });
      const again = later.attach(new TestClient(), 'a', boot, [], 3);
      again.openUploads(1, open);
      pass(later, graceMs);
      assert.equal(parts(later), left);
      later.service.close();
    }
  });

  it('that was given up is gone also if the next primary hears of that again only', () => {
    const { primary, port } = begin();
    const next = upload(port);
    primary.run();
    const end = messageParts('');
    end.setHeader(encodePartHeader(1, 3, true));
    port.publish(end, [partsIncarnation], true, next, 0);
    primary.log.cut();
    primary.service.close();
    const later = new TestPrimary({ previous: primary, epoch: 2 });
    const again = later.attach(new TestClient(), 'a', boot, [], next - 1);
    again.openUploads(1, new Map([[1, next]]));
    pass(later, graceMs);
    assert.equal(parts(later), 3);
    // A log of the node itself gives back no more than the number.
    again.publish(messageParts(''), [0], true, next, 0);
    pass(later, graceMs);
    assert.equal(parts(later), 0);
  });

  it('is recovered with its parts, in any order', () => {
    const { primary, port } = begin();
    const next = upload(port);
    port.publish(message(), [q], true, next, 0);
    primary.run();
    const { state } = primary;
    const opens = [q, partsIncarnation].map((incarnation) => state.queue(incarnation)!.openOffset);
    const entries = [q, partsIncarnation].flatMap((incarnation) => {
      const { index } = state.queue(incarnation)!;
      return index.positionsAscending(0, 100).map((position) => [position, index.find(position)!.offset] as const);
    });
    const chunk = state.chunk(state.queue(q)!.index.find(entries[0]![0])!.chunk);
    for (const order of [entries, entries.toReversed()]) {
      const found = new GroupState(
        1,
        primary.chunks,
        fullSlices((run) => run()),
      );
      const recovery = new GroupRecovery(found);
      for (const offset of opens) recovery.record(chunk, offset, 1);
      for (const [position, offset] of order) recovery.record(chunk, offset, position);
      recovery.finish(() => {});
      const recovered = found.large.find(id)!;
      const view = new EnqueueView().set(chunk.bytes!, chunk.view!, entries[0]![1]);
      assert.ok(recovered.fits(manifestOf(view.view, view.start)));
      assert.deepEqual(
        [...recovered.positions()],
        entries.slice(1).map(([position]) => position),
      );
      assert.equal(recovered.messages, 1);
      assert.equal(found.queue(q)!.index.readyBytes, size);
    }
  });
});

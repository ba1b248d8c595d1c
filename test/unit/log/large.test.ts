import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  encodeManifest,
  encodePartHeader,
  isPart,
  manifestBytes,
  manifestOf,
  partHeaderAt,
} from '../../../src/log/large.js';
import {
  bodyLength,
  encodeEnqueue,
  EnqueueView,
  enqueueLength,
  MessageParts,
  metaAt,
  versionOf,
} from '../../../src/log/record.js';
import { QueueIndex } from '../../../src/model/queue/queue-index.js';

const manifest = { boot: 7, upload: 5_000_000_001, size: 512 * 1024 * 1024, count: 4162 };

function recordOf(parts: MessageParts): DataView {
  const bytes = new Uint8Array(enqueueLength(parts, 2));
  const view = new DataView(bytes.buffer);
  encodeEnqueue(bytes, view, 0, parts, [10, 11], true, 7, 9);
  return view;
}

describe('the record of a large message', () => {
  const parts = new MessageParts();
  parts.setMeta(Uint8Array.of(0, 1, 0x71));
  parts.setHeader(Uint8Array.of(0x10, 0, 2));
  parts.setBody(encodeManifest(manifest));
  parts.large = true;
  const view = recordOf(parts);

  it('has its manifest in place of its body, and needs version 3', () => {
    const bytes = new Uint8Array(view.buffer);
    assert.deepEqual(manifestOf(view, 0), manifest);
    assert.equal(bodyLength(view, 0), manifest.size);
    assert.equal(parts.contentLength, manifest.size);
    const record = new EnqueueView().set(bytes, view, 0);
    assert.ok(record.isLarge);
    assert.equal(record.contentLength, manifest.size);
    assert.equal(record.bodyLength, manifestBytes);
    assert.equal(versionOf(bytes, 0), 3);
    const again = new MessageParts();
    again.setFrom(record);
    assert.deepEqual(new Uint8Array(recordOf(again).buffer), bytes);
  });

  it('counts with its body in an index, and with its record for the chunk', () => {
    const index = new QueueIndex();
    index.add(5, 1, 100, view.byteLength, manifest.size, true);
    index.add(6, 1, 400, 100, 50, true);
    assert.deepEqual([index.bodyBytes, index.readyBytes], [manifest.size + 50, manifest.size + 50]);
    const entry = index.find(5)!;
    assert.deepEqual([entry.length, entry.bodyBytes], [view.byteLength, manifest.size]);
    index.deliver(entry, 1);
    assert.deepEqual([index.bodyBytes, index.readyBytes], [manifest.size + 50, 50]);
    const released: number[] = [];
    index.dropFront(10, (_chunk, length, position) => released.push(position, length));
    assert.deepEqual(released, [5, view.byteLength, 6, 100]);
    assert.equal(index.bodyBytes, 0);
  });

  it('is told from that of a part', () => {
    assert.ok(!isPart(view, 0));
    const part = new MessageParts();
    part.setHeader(encodePartHeader(5_000_000_001, 17, true));
    const partView = recordOf(part);
    assert.ok(isPart(partView, 0));
    assert.deepEqual(partHeaderAt(partView, metaAt(partView, 0)), { upload: 5_000_000_001, index: 17, isEnd: true });
    assert.equal(versionOf(new Uint8Array(partView.buffer), 0), 1);
  });
});

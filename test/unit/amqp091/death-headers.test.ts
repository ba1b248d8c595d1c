import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BasicProperties } from '../../../src/amqp091/codec/index.js';
import { deathHeaders } from '../../../src/amqp091/death-headers.js';
import { encodeEnqueue, EnqueueView, enqueueLength, MessageParts } from '../../../src/log/record.js';
import { type Arguments, Timestamp } from '../../../src/model/broker.js';
import { DeathReason } from '../../../src/model/dead-letter/death.js';
import { ByteReader } from '../../../src/wire/byte-reader.js';
import { ByteWriter } from '../../../src/wire/byte-writer.js';

function message(header: Uint8Array, exchange = 'x', routingKey = 'key'): EnqueueView {
  const parts = new MessageParts();
  const meta = new ByteWriter();
  for (const text of [exchange, routingKey]) {
    meta.u8(text.length);
    meta.text(text);
  }
  parts.metaBytes = meta.take();
  parts.metaLength = parts.metaBytes.length;
  parts.headerBytes = header;
  parts.headerLength = header.length;
  const bytes = new Uint8Array(enqueueLength(parts, 1));
  const view = new DataView(bytes.buffer);
  encodeEnqueue(bytes, view, 0, parts, [1], true, 0, 0);
  return new EnqueueView().set(bytes, view, 0);
}

function encoded(properties: Partial<BasicProperties>): Uint8Array {
  const writer = new ByteWriter();
  Object.assign(new BasicProperties(), properties).encode(writer);
  return writer.take().slice();
}

function decoded(header: Uint8Array): BasicProperties {
  return BasicProperties.decode(new ByteReader().set(header, 0, header.length));
}

const death = (queue: string, reason: DeathReason, isReaddressed = false) => ({
  queue,
  reason,
  time: 1234,
  isReaddressed,
});

describe('the headers of the dead', () => {
  it('tell why, where and when, and what had been asked for', () => {
    const first = decoded(
      deathHeaders.note(
        message(encoded({ contentType: 'a/b', expiration: '50', messageId: 'id', deliveryMode: 2 })),
        death('q', DeathReason.expired),
      ),
    );
    assert.deepEqual({ ...first }, {
      ...new BasicProperties(),
      contentType: 'a/b',
      messageId: 'id',
      deliveryMode: 2,
      headers: {
        'x-death': [
          {
            count: 1,
            reason: 'expired',
            queue: 'q',
            time: new Timestamp(1234),
            exchange: 'x',
            'routing-keys': ['key'],
            'original-expiration': '50',
          },
        ],
        'x-first-death-reason': 'expired',
        'x-first-death-queue': 'q',
        'x-first-death-exchange': 'x',
      },
    } as unknown as BasicProperties);
  });

  it('count deaths of a kind, the last one first, and keep the first', () => {
    let header: Uint8Array = encoded({ headers: { own: 'stays', n: 1.5 } });
    for (const [queue, reason] of [
      ['a', DeathReason.expired],
      ['b', DeathReason.rejected],
      ['a', DeathReason.expired],
      ['a', DeathReason.maxlen],
    ] as const)
      header = deathHeaders.note(message(header), death(queue, reason));
    const headers = decoded(header).headers!;
    const list = headers['x-death'] as Arguments[];
    assert.deepEqual(
      list.map(({ queue, reason, count }) => [queue, reason, count]),
      [
        ['a', 'maxlen', 1],
        ['a', 'expired', 2],
        ['b', 'rejected', 1],
      ],
    );
    assert.equal(headers['x-first-death-queue'], 'a');
    assert.equal(headers['x-first-death-reason'], 'expired');
    assert.deepEqual([headers['own'], headers['n']], ['stays', 1.5]);
  });

  it('leave what they do not change as it is, byte for byte', () => {
    // A header 'n' as a 16 bit integer, and an app-id that is no UTF-8.
    const table = [1, 0x6e, 0x73, 0, 7];
    const header = Uint8Array.from([0x20, 0x08, 0, 0, 0, table.length, ...table, 2, 0xff, 0xfe]);
    const noted = Buffer.from(deathHeaders.note(message(header), death('q', DeathReason.rejected)));
    assert.ok(noted.includes(Buffer.from(table)));
    assert.deepEqual([...noted.subarray(-3)], [2, 0xff, 0xfe]);
  });

  it('name the keys of CC, not those of BCC; both go if the queue names a key', () => {
    const before = encoded({ headers: { CC: ['c', 1, 'd'], BCC: ['hidden'], own: 1 }, expiration: '5' });
    for (const isReaddressed of [false, true]) {
      const noted = deathHeaders.note(message(before), death('q', DeathReason.rejected, isReaddressed));
      const { headers, expiration } = decoded(noted);
      const { CC, BCC, own } = headers!;
      assert.deepEqual(
        [CC, BCC, own, expiration],
        isReaddressed ? [undefined, undefined, 1, undefined] : [['c', 1, 'd'], ['hidden'], 1, undefined],
      );
      assert.deepEqual((headers!['x-death'] as Arguments[])[0]!['routing-keys'], ['key', 'c', 'd']);
    }
  });

  it('show a circle, unless a consumer rejected the message on the way, or an operator sent it there', () => {
    for (const decided of [DeathReason.rejected, DeathReason.rerouted]) {
      let header: Uint8Array = encoded({});
      for (const queue of ['a', 'b']) header = deathHeaders.note(message(header), death(queue, DeathReason.expired));
      assert.deepEqual(
        ['a', 'b', 'c'].map((queue) => deathHeaders.isCircle(message(header), queue)),
        [true, true, false],
      );
      header = deathHeaders.note(message(header), death('c', decided));
      assert.deepEqual(
        ['a', 'b', 'c'].map((queue) => deathHeaders.isCircle(message(header), queue)),
        [false, false, false],
      );
    }
  });
});

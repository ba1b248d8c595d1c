import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { FrameParser, FrameWriter, TransferView } from '../../../src/amqp10/codec/index.js';
import { DeliveryLead } from '../../../src/amqp10/delivery-lead.js';
import { add, ahead } from '../../../src/amqp10/serial.js';
import { TransferWindow } from '../../../src/amqp10/transfer-window.js';
import { ByteWriter } from '../../../src/wire/byte-writer.js';

function lead(): DeliveryLead {
  const it = new DeliveryLead();
  it.length = 3;
  it.bytes.fill(0xaa, 0, 3);
  return it;
}

describe('numbers that go round (RFC 1982)', () => {
  it('are compared across their end', () => {
    assert.equal(add(0xffff_ffff, 2), 1);
    assert.equal(ahead(1, 0xffff_ffff), 2);
    assert.equal(ahead(0xffff_ffff, 1), -2);
    assert.equal(ahead(5, 5), 0);
  });
});

describe('TransferWindow', () => {
  it('sends no frame that there is no room for, and everything in the end', () => {
    const deliveries = fc.array(fc.integer({ min: 1, max: 2500 }), { minLength: 1, maxLength: 8 });
    const windows = fc.array(fc.nat(4), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(deliveries, windows, fc.nat(0xffff_ffff), (sizes, opened, firstId) => {
        const frames = new FrameWriter(new ByteWriter());
        const window = new TransferWindow(frames, { touch() {} }, 3, firstId, 0);
        const view = new TransferView();
        const seen: number[] = [];
        let taken = 0;
        let lastWasMore = false;
        const parser = new FrameParser({
          protocolHeader() {},
          frame(_type, channel, bytes, start, end) {
            assert.equal(channel, 3);
            view.set(bytes, start, end);
            taken++;
            const { deliveryId, payloadStart, payloadEnd } = view;
            if (!lastWasMore) seen.push(0);
            assert.equal(deliveryId, seen.length - 1);
            seen[seen.length - 1]! += payloadEnd - payloadStart;
            lastWasMore = view.more;
          },
        });
        let next = 0;
        const go = (room: number): void => {
          const allowed = taken + room;
          window.update(taken === 0 ? undefined : add(firstId, taken), room);
          while (window.isOpen && next < sizes.length) {
            const bytes = new Uint8Array(sizes[next]!);
            window.send({ handle: 1, deliveryId: next, settled: false }, lead(), bytes, 0, bytes.length);
            next++;
          }
          parser.feed(frames.output.take());
          assert.ok(taken <= allowed, `${taken} of ${allowed}`);
          assert.equal(window.nextId, add(firstId, taken));
        };
        for (const room of opened) go(room);
        for (let i = 0; i < 100 && (next < sizes.length || lastWasMore); i++) go(1);
        assert.deepEqual(
          seen,
          sizes.map((size) => size + 3),
        );
      }),
    );
  });
});

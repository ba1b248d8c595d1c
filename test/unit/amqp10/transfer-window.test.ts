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
      fc.property(deliveries, windows, fc.nat(0xffff_ffff), fc.boolean(), (sizes, opened, firstId, late) => {
        const frames = new FrameWriter(new ByteWriter());
        const window = new TransferWindow(frames, { touch() {}, wrotePart: () => true }, 3, firstId, 0);
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
          // Some come although there is no room: they wait.
          const before = next;
          while ((window.isOpen || (late && next === before)) && next < sizes.length) {
            const bytes = new Uint8Array(sizes[next]!);
            window.send({ handle: 1, deliveryId: next, settled: false }, lead(), bytes, 0, bytes.length);
            next++;
          }
          parser.feed(frames.output.take());
          assert.ok(taken <= allowed, `${taken} of ${allowed}`);
          assert.equal(window.nextId, add(firstId, taken));
        };
        for (const room of opened) go(room);
        for (let i = 0; i < 200 && (seen.length < sizes.length || lastWasMore); i++) go(1);
        assert.deepEqual(
          seen,
          sizes.map((size) => size + 3),
        );
      }),
    );
  });
});

describe('TransferWindow: a link that ends', () => {
  /** What was written: handle, delivery-id, and whether more follows. */
  function opened(room: number): { window: TransferWindow; seen: () => string[] } {
    const frames = new FrameWriter(new ByteWriter());
    const window = new TransferWindow(frames, { touch() {}, wrotePart: () => true }, 0, 0, room);
    const seen: string[] = [];
    const view = new TransferView();
    const parser = new FrameParser({
      protocolHeader() {},
      frame(_type, _channel, bytes, start, end) {
        view.set(bytes, start, end);
        seen.push(`${view.handle}/${view.deliveryId} ${view.more ? 'more' : 'end'}`);
      },
    });
    return {
      window,
      seen: () => {
        parser.feed(frames.output.take());
        return seen.splice(0);
      },
    };
  }

  function send(window: TransferWindow, handle: number, deliveryId: number, size: number): void {
    window.send({ handle, deliveryId, settled: false }, lead(), new Uint8Array(size), 0, size);
  }

  it('takes the rest of its delivery with it, and the next goes on', () => {
    const { window, seen } = opened(2);
    send(window, 1, 0, 5000);
    send(window, 2, 1, 10);
    assert.deepEqual(seen(), ['1/0 more', '1/0 more']);
    window.update(2, 1);
    assert.deepEqual(seen(), ['1/0 more']);
    window.drop(1);
    assert.deepEqual(seen(), []);
    window.update(3, 2);
    assert.deepEqual(seen(), ['2/1 end']);
    assert.equal(window.isOpen, true);
  });

  it('leaves alone what is not its own', () => {
    const { window, seen } = opened(1);
    send(window, 1, 0, 5000);
    send(window, 2, 1, 10);
    seen();
    window.drop(2);
    assert.deepEqual(seen(), []);
    window.drop(3);
    assert.equal(window.isOpen, false);
    window.update(1, 100);
    assert.equal(seen().at(-1), '1/0 end');
    assert.equal(window.isOpen, true);
  });
});

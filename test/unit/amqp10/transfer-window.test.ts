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

describe('TransferWindow: a payload that comes in pieces', () => {
  it('goes out as window and output allow, byte for byte, and nothing overtakes it', () => {
    const pieces = fc.array(fc.nat(1500), { minLength: 1, maxLength: 6 });
    const steps = fc.array(fc.record({ room: fc.nat(3), isFull: fc.boolean() }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(pieces, steps, (sizes, script) => {
        const frames = new FrameWriter(new ByteWriter());
        let isFull = false;
        let frameCount = 0;
        const window = new TransferWindow(frames, { touch() {}, wrotePart: () => !isFull }, 0, 0, 1);
        const seen = new Map<number, number[]>();
        const ended: number[] = [];
        const view = new TransferView();
        const parser = new FrameParser({
          protocolHeader() {},
          frame(_type, _channel, bytes, start, end) {
            view.set(bytes, start, end);
            frameCount++;
            assert.ok(ended.length === view.deliveryId, 'one at a time');
            const payload = seen.get(view.deliveryId) ?? [];
            seen.set(view.deliveryId, payload);
            payload.push(...bytes.subarray(view.payloadStart, view.payloadEnd));
            if (!view.more) ended.push(view.deliveryId);
          },
        });
        const expected = [0xaa, 0xaa, 0xaa, 7];
        window.begin({ handle: 1, deliveryId: 0, settled: false }, lead(), Uint8Array.of(7), 0, 1);
        // Pieces are views of a buffer that is used again.
        const buffer = new Uint8Array(1500);
        let given = 0;
        const step = (room: number, full: boolean): void => {
          parser.feed(frames.output.take());
          isFull = full;
          window.update(frameCount, room);
          window.goOn();
          if (given < sizes.length && window.isIdle) {
            const size = sizes[given]!;
            buffer.fill(given + 1);
            for (let i = 0; i < size; i++) expected.push(given + 1);
            window.add(buffer, 0, size, ++given === sizes.length);
            buffer.fill(0xff);
            if (given === sizes.length) window.send({ handle: 2, deliveryId: 1, settled: false }, lead(), buffer, 0, 1);
          }
        };
        for (const { room, isFull: full } of script) step(room, full);
        for (let i = 0; i < 100 && ended.length < 2; i++) step(1, false);
        parser.feed(frames.output.take());
        assert.deepEqual(ended, [0, 1]);
        assert.deepEqual(seen.get(0), expected);
        assert.equal(window.isSending, false);
      }),
    );
  });

  it('writes one frame and stops when the output is full', () => {
    const frames = new FrameWriter(new ByteWriter());
    const window = new TransferWindow(frames, { touch() {}, wrotePart: () => false }, 0, 0, 1000);
    window.send({ handle: 1, deliveryId: 0, settled: false }, lead(), new Uint8Array(1_000_000), 0, 1_000_000);
    assert.equal(frames.output.length, 512);
    window.goOn();
    assert.equal(frames.output.length, 1024);
  });

  it('asks for room once, when there is none for the rest of a delivery', () => {
    let asked = 0;
    const output = { touch() {}, wrotePart: () => true };
    const window = new TransferWindow(new FrameWriter(new ByteWriter()), output, 0, 0, 2, () => asked++);
    window.send({ handle: 1, deliveryId: 0, settled: false }, lead(), new Uint8Array(1500), 0, 1500);
    assert.equal(asked, 1);
    window.update(2, 0);
    assert.equal(asked, 1);
    window.update(2, 1);
    assert.equal(asked, 2);
    window.update(3, 1);
    assert.equal(asked, 2);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { AmqpError } from '../../../src/amqp10/codec/amqp-error.js';
import type { FrameHandler } from '../../../src/amqp10/codec/frame-parser.js';
import { FrameParser } from '../../../src/amqp10/codec/frame-parser.js';
import { FrameWriter } from '../../../src/amqp10/codec/frame-writer.js';
import { Descriptor } from '../../../src/amqp10/codec/generated/descriptors.js';
import { Disposition, Flow, Transfer } from '../../../src/amqp10/codec/generated/performatives.js';
import { Accepted, ErrorFields, Modified, Rejected, Released } from '../../../src/amqp10/codec/generated/states.js';
import { absent } from '../../../src/amqp10/codec/hot-reader.js';
import {
  DispositionView,
  FlowView,
  StateKind,
  stateAt,
  TransferView,
} from '../../../src/amqp10/codec/hot-performatives.js';
import { decodePerformative } from '../../../src/amqp10/codec/performative.js';
import { ByteWriter } from '../../../src/wire/byte-writer.js';
import { bytesOf, encodedComposite, hexOf, mutated } from './support.js';

const u32 = fc.oneof(fc.constant(0), fc.nat(0xff), fc.nat(0xffff_ffff));
const perhaps = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });
const state = perhaps(
  fc.constantFrom(
    new Accepted(),
    new Released(),
    new Modified(),
    Object.assign(new Rejected(), {
      error: Object.assign(new ErrorFields(), { condition: 'amqp:x', description: 'y' }),
    }),
  ),
);

const transfers = fc
  .record({
    handle: u32,
    deliveryId: perhaps(u32),
    deliveryTag: perhaps(fc.uint8Array({ maxLength: 32 })),
    messageFormat: perhaps(u32),
    settled: perhaps(fc.boolean()),
    more: fc.boolean(),
    rcvSettleMode: perhaps(fc.nat(1)),
    state,
    resume: fc.boolean(),
    aborted: fc.boolean(),
    batchable: fc.boolean(),
  })
  .map((fields) => Object.assign(new Transfer(), fields));

const dispositions = fc
  .record({ role: fc.boolean(), first: u32, last: perhaps(u32), settled: fc.boolean(), state, batchable: fc.boolean() })
  .map((fields) => Object.assign(new Disposition(), fields));

const flows = fc
  .record({
    nextIncomingId: perhaps(u32),
    incomingWindow: u32,
    nextOutgoingId: u32,
    outgoingWindow: u32,
    handle: perhaps(u32),
    deliveryCount: perhaps(u32),
    linkCredit: perhaps(u32),
    available: perhaps(u32),
    drain: fc.boolean(),
    echo: fc.boolean(),
  })
  .map((fields) => Object.assign(new Flow(), fields));

const numberOr = (value: number | undefined): number => value ?? absent;

/** The views say of bytes what the objects say, or refuse them as well. */
function agree(bytes: Uint8Array, byView: () => unknown, byObject: (it: never) => unknown): void {
  let seen: unknown;
  try {
    seen = byView();
  } catch (error) {
    assert.ok(error instanceof AmqpError, String(error));
    return;
  }
  let it: unknown;
  try {
    it = decodePerformative(bytes, 0, bytes.length);
  } catch (error) {
    // A view does not look into what it steps over.
    assert.ok(error instanceof AmqpError, String(error));
    return;
  }
  assert.deepEqual(seen, byObject(it as never));
}

describe('the views of transfer, disposition and flow', () => {
  it('a transfer is what its object is, with its payload', () => {
    fc.assert(
      fc.property(transfers, fc.uint8Array({ maxLength: 50 }), (transfer, payload) => {
        const list = encodedComposite(transfer);
        const bytes = new Uint8Array([7, ...list, ...payload]);
        const view = new TransferView().set(bytes, 1, bytes.length);
        assert.equal(view.handle, transfer.handle);
        assert.equal(view.deliveryId, numberOr(transfer.deliveryId));
        assert.equal(view.tagLength, numberOr(transfer.deliveryTag?.length));
        if (transfer.deliveryTag !== undefined)
          assert.deepEqual(bytes.slice(view.tagStart, view.tagStart + view.tagLength), transfer.deliveryTag);
        assert.equal(view.messageFormat, numberOr(transfer.messageFormat));
        assert.equal(view.settled, transfer.settled ?? false);
        assert.equal(view.more, transfer.more);
        assert.equal(view.rcvSettleMode, numberOr(transfer.rcvSettleMode));
        assert.deepEqual(stateAt(bytes, view.stateAt, view.stateEnd), transfer.state);
        assert.deepEqual(
          [view.resume, view.aborted, view.batchable],
          [transfer.resume, transfer.aborted, transfer.batchable],
        );
        assert.deepEqual(bytes.slice(view.payloadStart, view.payloadEnd), payload);
      }),
    );
  });

  it('a disposition is what its object is', () => {
    const view = new DispositionView();
    fc.assert(
      fc.property(dispositions, (disposition) => {
        const bytes = encodedComposite(disposition);
        view.set(bytes, 0, bytes.length);
        const { role, first, last, settled } = disposition;
        assert.deepEqual([view.role, view.first, view.last, view.settled], [role, first, last ?? first, settled]);
        assert.deepEqual(stateAt(bytes, view.stateAt, view.stateEnd), disposition.state);
        const kinds = {
          [Descriptor.accepted]: StateKind.accepted,
          [Descriptor.released]: StateKind.released,
        } as Record<number, number>;
        const kind =
          disposition.state === undefined ? StateKind.none : (kinds[disposition.state.descriptor] ?? StateKind.other);
        assert.equal(view.state, kind);
      }),
    );
  });

  it('a flow is what its object is', () => {
    const view = new FlowView();
    fc.assert(
      fc.property(flows, (flow) => {
        const bytes = encodedComposite(flow);
        view.set(bytes, 0, bytes.length);
        for (const name of ['nextIncomingId', 'handle', 'deliveryCount', 'linkCredit', 'available'] as const)
          assert.equal(view[name], numberOr(flow[name]), name);
        for (const name of ['incomingWindow', 'nextOutgoingId', 'outgoingWindow', 'drain', 'echo'] as const)
          assert.equal(view[name], flow[name], name);
      }),
    );
  });

  it('small lists, and lists of eight bits, are read as well', () => {
    // What others write: handle 0, delivery-id 1, a tag, format 0, settled, more false.
    const bytes = bytesOf('00 53 14 c0 0b 06 43 52 01 a0 02 3031 43 41 42 ffff');
    const view = new TransferView().set(bytes, 0, bytes.length);
    assert.deepEqual(
      [view.handle, view.deliveryId, view.tagLength, view.messageFormat, view.settled, view.more],
      [0, 1, 2, 0, true, false],
    );
    assert.equal(bytes.length - view.payloadStart, 2);
  });

  it('bytes that were changed are refused, or mean the same as to the objects', () => {
    const view = new DispositionView();
    const flow = new FlowView();
    const transfer = new TransferView();
    fc.assert(
      fc.property(mutated(dispositions.map(encodedComposite)), (bytes) => {
        const byView = (): unknown => {
          view.set(bytes, 0, bytes.length);
          return [view.first, view.last, view.settled];
        };
        agree(bytes, byView, ({ first, last, settled }: Disposition) => [first, last ?? first, settled]);
      }),
      { numRuns: 1000 },
    );
    fc.assert(
      fc.property(mutated(flows.map(encodedComposite)), (bytes) => {
        const byView = (): unknown => {
          flow.set(bytes, 0, bytes.length);
          return [flow.handle, flow.linkCredit, flow.drain];
        };
        agree(bytes, byView, (it: Flow) => [numberOr(it.handle), numberOr(it.linkCredit), it.drain]);
      }),
      { numRuns: 1000 },
    );
    fc.assert(
      fc.property(mutated(transfers.map(encodedComposite)), (bytes) => {
        try {
          transfer.set(bytes, 0, bytes.length);
          assert.ok(transfer.payloadStart <= bytes.length);
          assert.ok(transfer.tagLength === absent || transfer.tagStart + transfer.tagLength <= bytes.length);
        } catch (error) {
          assert.ok(error instanceof AmqpError, String(error));
        }
      }),
      { numRuns: 1000 },
    );
  });
});

interface Frame {
  channel: number;
  body: Uint8Array;
}

function framesOf(bytes: Uint8Array, frameMax: number): Frame[] {
  const frames: Frame[] = [];
  const handler: FrameHandler = {
    protocolHeader() {},
    frame: (_type, channel, from, start, end) => frames.push({ channel, body: from.slice(start, end) }),
  };
  const parser = new FrameParser(handler);
  parser.frameMax = frameMax;
  parser.feed(bytes);
  assert.equal(parser.heldBytes, 0);
  return frames;
}

describe('what is written for every message', () => {
  it('a delivery comes out whole, in frames that the peer takes', () => {
    const sizes = fc.record({
      frameMax: fc.integer({ min: 512, max: 1200 }),
      lead: fc.integer({ min: 0, max: 30 }),
      head: fc.nat(600),
      body: fc.nat(3000),
    });
    fc.assert(
      fc.property(sizes, u32, fc.boolean(), ({ frameMax, lead, head, body }, deliveryId, settled) => {
        if (lead + head + body === 0) return;
        const record = new Uint8Array([
          1,
          2,
          ...new Array<number>(head).fill(0x11),
          ...new Array<number>(body + 1).fill(0x22),
          3,
        ]);
        const writer = new FrameWriter(new ByteWriter());
        writer.frameMax = frameMax;
        const leadBytes = new Uint8Array(30).fill(0x33);
        const count = writer.framesFor(lead + head + body + 1);
        const to = { handle: 9, deliveryId, settled };
        writer.deliver(5, to, leadBytes, lead, record, 2, record.length - 1);
        const frames = framesOf(writer.output.take(), frameMax);
        assert.equal(frames.length, count);
        let payload = '';
        frames.forEach(({ channel, body: bytes }, index) => {
          assert.equal(channel, 5);
          const view = new TransferView().set(bytes, 0, bytes.length);
          assert.deepEqual([view.handle, view.deliveryId, view.settled], [9, deliveryId, settled]);
          assert.equal(view.more, index < frames.length - 1);
          payload += hexOf(bytes.subarray(view.payloadStart));
        });
        assert.equal(payload, '33'.repeat(lead) + '11'.repeat(head) + '22'.repeat(body + 1));
      }),
    );
  });

  it('dispositions of ranges are dispositions', () => {
    fc.assert(
      fc.property(fc.boolean(), u32, u32, (role, first, last) => {
        const writer = new FrameWriter(new ByteWriter());
        writer.disposition(3, role, first, last, Descriptor.accepted);
        const [frame] = framesOf(writer.output.take(), 512);
        const it = decodePerformative(frame!.body, 0, frame!.body.length) as Disposition;
        const expected = Object.assign(new Disposition(), { role, first, last, settled: true, state: new Accepted() });
        assert.deepEqual(it, expected);
      }),
    );
  });
});

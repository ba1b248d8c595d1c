import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import {
  AckView,
  BasicAck,
  BasicPublish,
  decodeMethod,
  type Method,
  MethodId,
  ProtocolError,
  PublishView,
} from '../../../src/amqp091/codec/index.js';
import { ByteWriter } from '../../../src/wire/byte-writer.js';
import { methodOf, methods, spoiled } from './support.js';

function payload(method: Method): Uint8Array {
  const writer = new ByteWriter();
  writer.u32(method.id);
  method.encode(writer);
  return writer.take();
}

function arbitrary(id: number): fc.Arbitrary<Uint8Array> {
  const definition = methods.find((method) => method.id === id);
  if (definition === undefined) return assert.fail();
  return fc.oneof(methodOf(definition).map(payload), spoiled(methodOf(definition).map(payload)));
}

/** The result, or the error's code. */
function attempt<T>(run: () => T): T | number {
  try {
    return run();
  } catch (error) {
    assert.ok(error instanceof ProtocolError, String(error));
    assert.notEqual(error.methodId, 0);
    return error.code;
  }
}

function isMethod(bytes: Uint8Array, id: number): boolean {
  return bytes.length >= 4 && new DataView(bytes.buffer, bytes.byteOffset).getUint32(0) === id;
}

test('a publish is read as the common decoder reads it', () => {
  fc.assert(
    fc.property(arbitrary(MethodId.basicPublish), (bytes) => {
      fc.pre(isMethod(bytes, MethodId.basicPublish));
      const view = new PublishView();
      const actual = attempt(() => {
        view.set(bytes, 0, bytes.length);
        return new BasicPublish(view.exchange(), view.routingKey(), view.mandatory, view.immediate);
      });
      assert.deepStrictEqual(
        actual,
        attempt(() => decodeMethod(bytes, 0, bytes.length)),
      );
    }),
    { numRuns: 1000 },
  );
});

test("a publish's meta is exchange and routing key as they stand", () => {
  const bytes = Buffer.concat([Buffer.of(9, 9), payload(new BasicPublish('ex', 'key', true, false)), Buffer.of(9)]);
  const view = new PublishView().set(bytes, 2, bytes.length - 1);
  const meta = bytes.subarray(view.metaStart, view.metaStart + view.metaLength);
  assert.equal(meta.toString('latin1'), '\x02ex\x03key');
  assert.equal(view.bytes, bytes);
});

test('an ack is read as the common decoder reads it', () => {
  fc.assert(
    fc.property(arbitrary(MethodId.basicAck), (bytes) => {
      fc.pre(isMethod(bytes, MethodId.basicAck));
      const view = new AckView();
      const actual = attempt(() => {
        view.set(bytes, 0, bytes.length);
        return new BasicAck(view.deliveryTag, view.multiple);
      });
      assert.deepStrictEqual(
        actual,
        attempt(() => decodeMethod(bytes, 0, bytes.length)),
      );
    }),
    { numRuns: 500 },
  );
});

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import * as fc from 'fast-check';
import * as codec from '../../../src/amqp091/codec/index.js';
import { ByteWriter } from '../../../src/wire/byte-writer.js';
import type { MethodDefinition } from '../../../tools/codegen/definition.js';
import { anyMethod, methodOf, methods, root, spoiled } from './support.js';

function payload(method: codec.Method): Uint8Array {
  const writer = new ByteWriter();
  writer.u32(method.id);
  method.encode(writer);
  return writer.take();
}

for (const definition of methods) {
  test(`${definition.fullName} is read as it was written`, () => {
    fc.assert(
      fc.property(methodOf(definition), (method) => {
        const bytes = payload(method);
        assert.deepStrictEqual(codec.decodeMethod(bytes, 0, bytes.length), method);
      }),
      { numRuns: 30 },
    );
  });
}

test('names, senders and content of methods', () => {
  for (const definition of methods) {
    assert.equal(codec.methodName(definition.id), definition.fullName);
    assert.equal(codec.clientMethods.has(definition.id), definition.fromClient);
    assert.equal(codec.expectsContent.has(definition.id), definition.content);
  }
  assert.equal(codec.methodName(0x003c_0063), '60.99');
  assert.equal(codec.methodName(0xffff_ffff), '65535.65535');
});

test('reply codes', () => {
  assert.equal(codec.replyCodeName(codec.ReplyCode.notFound), 'NOT_FOUND');
  assert.equal(codec.replyCodeName(999), '999');
  const soft = [311, 312, 313, 403, 404, 405, 406];
  const hard = [320, 402, 501, 502, 503, 504, 505, 506, 530, 540, 541];
  for (const code of soft) assert.equal(codec.isHardError(code), false, String(code));
  for (const code of hard) assert.equal(codec.isHardError(code), true, String(code));
  const error = new codec.ProtocolError(codec.ReplyCode.notFound, `no queue '${'ü'.repeat(300)}'`, 0x0032_0014);
  assert.equal(error.hard, false);
  assert.match(error.replyText, /^NOT_FOUND - no queue 'ü+$/);
  assert.ok(new TextEncoder().encode(error.replyText).length <= 255);
});

interface Peer {
  encodeMethod(id: number, channel: number, fields: Record<string, unknown>): Uint8Array;
}

// amqplib keeps its codec to itself; as an independent witness it is worth the detour.
const peer = createRequire(import.meta.url)(join(root, 'node_modules/amqplib/lib/defs.js')) as Peer;
const peerNames: Record<string, string> = { noWait: 'nowait' };

/** Long strings are Buffers to the peer. */
function peerFields(definition: MethodDefinition, method: codec.Method): Record<string, unknown> {
  const values = method as unknown as Record<string, unknown>;
  const fields: Record<string, unknown> = {};
  for (const { name, type } of definition.fields) {
    const long = type === 'longstr' || type === 'bytes';
    fields[peerNames[name] ?? name] = long ? Buffer.from((values[name] ?? '') as string) : values[name];
  }
  return fields;
}

for (const definition of methods) {
  test(`${definition.fullName} has the bytes that amqplib writes`, () => {
    // In tables the peer chooses other widths for some numbers, so there are none.
    const withoutNumbers = methodOf(definition).map((method) => {
      const plain = { yes: true, text: 'täxt', inner: { no: false } };
      for (const field of definition.fields) if (field.type === 'table') Object.assign(method, { [field.name]: plain });
      return method;
    });
    fc.assert(
      fc.property(withoutNumbers, fc.nat(0xffff), (method, channel) => {
        const writer = new codec.FrameWriter();
        writer.frameMax = 0;
        writer.method(channel, method);
        const theirs = peer.encodeMethod(method.id, channel, peerFields(definition, method));
        assert.equal(Buffer.from(writer.output.take()).toString('hex'), Buffer.from(theirs).toString('hex'));
      }),
      { numRuns: 10 },
    );
  });
}

test('a spoiled method is decoded or refused with 501, 502 or 503', () => {
  fc.assert(
    fc.property(spoiled(anyMethod.map(payload)), (bytes) => {
      try {
        codec.decodeMethod(bytes, 0, bytes.length);
      } catch (error) {
        assert.ok(error instanceof codec.ProtocolError, String(error));
        assert.ok([501, 502, 503].includes(error.code), String(error.code));
        assert.equal(error.hard, true);
      }
    }),
    { numRuns: 1500 },
  );
});

function refusal(bytes: number[]): [code: number, message: string, methodId: number] {
  try {
    codec.decodeMethod(Uint8Array.from(bytes), 0, bytes.length);
  } catch (error) {
    assert.ok(error instanceof codec.ProtocolError, String(error));
    return [error.code, error.message, error.methodId];
  }
  return assert.fail('it was decoded');
}

test('exact errors of malformed methods', () => {
  assert.deepEqual(refusal([0, 60]), [501, 'method frame of 2 bytes, at least 4 expected', 0]);
  assert.deepEqual(refusal([0, 60, 0, 41]), [503, 'no method 60.41', 0x003c_0029]);
  assert.deepEqual(refusal([0, 60, 0, 80, 0]), [502, 'cannot decode basic.ack: 8 bytes expected, 1 left', 0x003c_0050]);
  assert.deepEqual(refusal([0, 60, 0, 11, 0]), [502, 'cannot decode basic.qos-ok: 1 bytes too many', 0x003c_000b]);
  assert.deepEqual(refusal([0, 60, 0, 21, 2, 0xc3, 0x28]), [
    502,
    'cannot decode basic.consume-ok: a string of 2 bytes is not valid UTF-8',
    0x003c_0015,
  ]);
  assert.deepEqual(refusal([0, 50, 0, 50, 0, 0, 0, 0, 0, 0, 0, 0, 3, 1, 0x61, 0x51]), [
    502,
    'cannot decode queue.unbind: field value of unknown type 0x51',
    0x0032_0032,
  ]);
});

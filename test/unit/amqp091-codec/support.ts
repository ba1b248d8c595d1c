/** Arbitrary values of the protocol and a handler that writes down what it is given. */
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import * as codec from '../../../src/amqp091/codec/index.js';
import { type Arguments, type ArgumentValue, Decimal, Timestamp } from '../../../src/model/broker.js';
import type { ByteWriter } from '../../../src/wire/byte-writer.js';
import {
  loadProtocol,
  type MethodDefinition,
  type Protocol,
  type WireType,
} from '../../../tools/codegen/definition.js';

/** The repository's root, seen from the compiled test. */
export const root: string = fileURLToPath(new URL('../../../../', import.meta.url));
export const protocol: Protocol = loadProtocol(root);
export const methods: MethodDefinition[] = protocol.classes.flatMap((definition) => definition.methods);

const encoder = new TextEncoder();

/** Any text whose UTF-8 fits into a short string. */
export const shortText: fc.Arbitrary<string> = fc
  .string({ unit: 'binary', maxLength: 255 })
  .filter((text) => encoder.encode(text).length <= 255);

const integer64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const unsafeInteger64 = integer64.filter((value) => !Number.isSafeInteger(Number(value)));

/** Any value of a field table that is read back as it was written. */
export const argumentValue: fc.Arbitrary<ArgumentValue> = fc.letrec<{ value: ArgumentValue; table: Arguments }>(
  (tie) => ({
    value: fc.oneof(
      { maxDepth: 4, depthIdentifier: 'table' },
      fc.string({ unit: 'binary' }),
      fc.integer(),
      fc.maxSafeInteger(),
      fc.double(),
      unsafeInteger64,
      fc.boolean(),
      fc.constant(null),
      fc.uint8Array(),
      fc.maxSafeNat().map((seconds) => new Timestamp(seconds)),
      fc.tuple(fc.nat(255), fc.integer()).map(([scale, value]) => new Decimal(scale, value)),
      fc.array(tie('value'), { maxLength: 5, depthIdentifier: 'table' }),
      tie('table'),
    ),
    table: tableOf(tie('value')),
  }),
).value;

function tableOf(value: fc.Arbitrary<ArgumentValue>): fc.Arbitrary<Arguments> {
  return fc
    .array(fc.tuple(fc.oneof(shortText, fc.constant('__proto__')), value), { maxLength: 5, depthIdentifier: 'table' })
    .map((fields) => Object.fromEntries(fields) as Arguments);
}

export const table: fc.Arbitrary<Arguments> = tableOf(argumentValue);

const fieldValues: Record<WireType, fc.Arbitrary<unknown>> = {
  bit: fc.boolean(),
  octet: fc.nat(0xff),
  short: fc.nat(0xffff),
  long: fc.nat(0xffff_ffff),
  longlong: fc.maxSafeNat(),
  timestamp: fc.maxSafeNat(),
  shortstr: shortText,
  longstr: fc.string({ unit: 'binary' }),
  bytes: fc.uint8Array(),
  table,
};

type MethodClass = new (...values: unknown[]) => codec.Method;

/** An arbitrary object of the method. */
export function methodOf(definition: MethodDefinition): fc.Arbitrary<codec.Method> {
  const fields = definition.fields.filter((field) => !field.reserved);
  const construct = (codec as unknown as Record<string, MethodClass>)[definition.className];
  if (construct === undefined) throw new Error(`no class ${definition.className}`);
  return fc.tuple(...fields.map((field) => fieldValues[field.type])).map((values) => new construct(...values));
}

export const anyMethod: fc.Arbitrary<codec.Method> = fc.oneof(...methods.map(methodOf));

/** Any set of properties with any values. */
export const properties: fc.Arbitrary<codec.BasicProperties> = fc
  .tuple(
    ...protocol.classes
      .flatMap((definition) => definition.properties)
      .map((field) => fc.tuple(fc.constant(field.name), fc.option(fieldValues[field.type], { nil: undefined }))),
  )
  .map((fields) => Object.assign(new codec.BasicProperties(), Object.fromEntries(fields)));

/** What a frame handler was told, with the payload's bytes. */
export type Seen = [kind: string, channel: number, payload: string];

function hex(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('hex');
}

/** Writes down every frame; `onFrame` runs after each. */
export class Recorder implements codec.FrameHandler {
  readonly seen: Seen[] = [];
  onFrame: (seen: Seen) => void = () => {};

  protocolHeader(supported: boolean, bytes: Uint8Array, start: number, end: number): void {
    this.record([supported ? 'supported' : 'unsupported', 0, hex(bytes, start, end)]);
  }
  method(channel: number, bytes: Uint8Array, start: number, end: number): void {
    this.record(['method', channel, hex(bytes, start, end)]);
  }
  header(channel: number, bytes: Uint8Array, start: number, end: number): void {
    this.record(['header', channel, hex(bytes, start, end)]);
  }
  body(channel: number, bytes: Uint8Array, start: number, end: number): void {
    this.record(['body', channel, hex(bytes, start, end)]);
  }
  heartbeat(): void {
    this.record(['heartbeat', 0, '']);
  }

  private record(seen: Seen): void {
    this.seen.push(seen);
    this.onFrame(seen);
  }
}

/** One frame as bytes. */
export function frame(type: number, channel: number, payload: Uint8Array, end = 0xce): Uint8Array {
  const bytes = new Uint8Array(payload.length + 8);
  const view = new DataView(bytes.buffer);
  bytes[0] = type;
  view.setUint16(1, channel);
  view.setUint32(3, payload.length);
  bytes.set(payload, 7);
  bytes[payload.length + 7] = end;
  return bytes;
}

/** The bytes that `write` writes. */
export function written(output: ByteWriter, write: (output: ByteWriter) => void): Uint8Array {
  write(output);
  return output.take();
}

/** Cuts bytes at the given places. */
export function split(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (const place of [...places, bytes.length]) {
    pieces.push(bytes.subarray(from, place));
    from = place;
  }
  return pieces;
}

/** Cuts and spoils bytes: some octets overwritten, perhaps an end cut off. */
export function spoiled(bytes: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> {
  return fc
    .tuple(bytes, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 6 }), fc.option(fc.nat(), { nil: undefined }))
    .map(([original, changes, cut]) => {
      const result = original.slice(0, cut === undefined ? original.length : cut % (original.length + 1));
      for (const [at, value] of changes) if (result.length > 0) result[at % result.length] = value;
      return result;
    });
}

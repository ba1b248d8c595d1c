/**
 * Protobuf's encoding (https://protobuf.dev/programming-guides/encoding), as far as etcd's messages need it.
 *
 *   message = { tag, value }    tag = field number << 3 | wire type, a varint
 *   wire type 0: a varint       wire type 2: a length, a varint, and so many bytes (text, bytes, a message)
 */
const varintType = 0;
const bytesType = 2;
const fixedBytes: Readonly<Record<number, number>> = { 1: 8, 5: 4 };
/** A 64-bit varint has ten bytes. */
const varintBytesMax = 10;

/** One field of a message: of a varint `number`, of anything else `bytes`. */
export interface Field {
  id: number;
  number: bigint;
  bytes: Buffer;
}

/** A message under construction. Fields are in the order of the calls. */
export class ProtobufWriter {
  private readonly parts: Uint8Array[] = [];

  /** @param value a whole number from 0 */
  varint(id: number, value: number): this {
    this.parts.push(varint(id * 8 + varintType), varint(value));
    return this;
  }

  bytes(id: number, value: Uint8Array): this {
    this.parts.push(varint(id * 8 + bytesType), varint(value.length), value);
    return this;
  }

  text(id: number, value: string): this {
    return this.bytes(id, Buffer.from(value));
  }

  message(id: number, value: ProtobufWriter): this {
    return this.bytes(id, value.finish());
  }

  finish(): Buffer {
    return Buffer.concat(this.parts);
  }
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80);
  bytes.push(rest);
  return Uint8Array.from(bytes);
}

/** The fields of a message; `bytes` are views of it. Throws a RangeError if it is cut short or none. */
export function* fieldsOf(message: Buffer): Generator<Field> {
  let at = 0;
  const readVarint = (): bigint => {
    let value = 0n;
    for (let shift = 0; shift < varintBytesMax * 7; shift += 7) {
      const byte = message[at++];
      if (byte === undefined) throw new RangeError('a protobuf message is cut short');
      value |= BigInt(byte & 0x7f) << BigInt(shift);
      if (byte < 0x80) return value;
    }
    throw new RangeError('a protobuf number has more than 64 bits');
  };
  while (at < message.length) {
    const tag = Number(readVarint());
    const id = Math.floor(tag / 8);
    const type = tag % 8;
    if (type === varintType) {
      yield { id, number: readVarint(), bytes: none };
      continue;
    }
    const length = type === bytesType ? Number(readVarint()) : fixedBytes[type];
    if (length === undefined) throw new RangeError(`protobuf wire type ${type}`);
    if (at + length > message.length) throw new RangeError('a protobuf message is cut short');
    yield { id, number: 0n, bytes: message.subarray(at, at + length) };
    at += length;
  }
}

const none = Buffer.alloc(0);

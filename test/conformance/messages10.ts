/** Messages of AMQP 1.0 as cases send and get them. */
import {
  Accepted,
  Descriptor,
  Described,
  MapValue,
  MessageView,
  Scalar,
  textOf,
  type Value,
} from '../../src/amqp10/codec/index.js';
import { MessageHeader, MessageProperties } from '../../src/amqp10/codec/index.js';
import { ListWriter } from '../../src/amqp10/codec/list-writer.js';
import { readValue } from '../../src/amqp10/codec/value-reader.js';
import { writeValue } from '../../src/amqp10/codec/value-writer.js';
import { ByteReader } from '../../src/wire/byte-reader.js';
import { ByteWriter } from '../../src/wire/byte-writer.js';
import type { RawClient10, Received10 } from '../support/raw-client10.js';

export const accepted: Accepted = new Accepted();

export interface Sections {
  header?: Partial<MessageHeader>;
  properties?: Partial<MessageProperties>;
  /** application-properties */
  application?: Readonly<Record<string, Value>>;
  /** Default: one data section with `text`. */
  body?: Value;
}

/** A section by its descriptor. */
export function section(code: number, value: Value): Uint8Array {
  const writer = new ByteWriter();
  writeValue(writer, new Described(new Scalar('ulong', BigInt(code)), value));
  return writer.take();
}

export function message(text: string, { header, properties, application, body }: Sections = {}): Uint8Array {
  const writer = new ByteWriter();
  const list = new ListWriter(writer);
  if (header !== undefined) Object.assign(new MessageHeader(), header).encode(list);
  if (properties !== undefined) Object.assign(new MessageProperties(), properties).encode(list);
  if (application !== undefined)
    writer.raw(section(Descriptor.applicationProperties, new MapValue(Object.entries(application))));
  writer.raw(body === undefined ? section(Descriptor.data, Buffer.from(text)) : section(Descriptor.amqpValue, body));
  return writer.take();
}

/** What a delivery's payload says. */
export interface Read {
  text: string;
  redelivered: boolean;
  view: MessageView;
}

export function read(payload: Uint8Array): Read {
  const view = new MessageView().set(payload, 0, payload.length);
  const described = readValue(new ByteReader(payload, view.bodyStart, view.end)) as Described;
  const header = readValue(new ByteReader(payload, 0, view.headerEnd)) as Described;
  const firstAcquirer = (header.value as Value[])[3];
  const { value } = described;
  const text = value instanceof Uint8Array ? Buffer.from(value).toString() : (textOf(value) ?? String(value));
  return { text, redelivered: firstAcquirer !== true, view };
}

/** The next delivery, of one frame or several: its id, and what it says. */
export async function delivery(raw: RawClient10): Promise<Read & { id: number; settled: boolean; frames: number }> {
  const parts: Buffer[] = [];
  let first: Received10 | undefined;
  for (let frames = 1; ; frames++) {
    const received = await raw.expectFrame(Descriptor.transfer);
    first ??= received;
    parts.push(received.payload);
    if (received.body.more) continue;
    const { deliveryId, settled } = (first as typeof received).body;
    return { ...read(Buffer.concat(parts)), id: deliveryId!, settled: settled === true, frames };
  }
}

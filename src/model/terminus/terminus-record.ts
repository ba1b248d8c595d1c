/**
 * The records in a group's queue of termini. Each is an enqueue without header and body, whose meta is
 *
 *   u8 kind   u8 length, id of the terminus   u8 length, attachment   then
 *     terminus   f64 wall ms since when it is detached, 0 = it is attached   JSON of TerminusInfo
 *     sent       the delivery's tag
 *     acquired   f64 position of the message in its queue
 *
 * A terminus has one record of its own: a newer one takes its place. The others stay until the delivery is settled.
 */
import type { Chunk } from '../../log/chunk.js';
import type { Lsn } from '../../log/lsn.js';
import { EnqueueView, MessageParts } from '../../log/record.js';
import type { TerminusInfo, UnsettledKey } from './operations.js';

export const TerminusEntry = { terminus: 0, sent: 1, acquired: 2 } as const;
export type TerminusEntry = (typeof TerminusEntry)[keyof typeof TerminusEntry];

export interface TerminusRecord {
  readonly kind: TerminusEntry;
  readonly id: string;
  readonly attach: string;
  /** Of a delivery. */
  readonly key: UnsettledKey;
  readonly info: TerminusInfo | undefined;
  readonly detachedAt: number;
}

const record = new EnqueueView();

export function terminusRecordAt(chunk: Chunk, offset: number): TerminusRecord {
  return terminusRecord(record.set(chunk.bytes!, chunk.view!, offset));
}

export function terminusRecord({ bytes, view, metaStart, metaLength }: EnqueueView): TerminusRecord {
  const kind = bytes[metaStart] as TerminusEntry;
  const idStart = metaStart + 2;
  const idEnd = idStart + bytes[metaStart + 1]!;
  const rest = idEnd + 1 + bytes[idEnd]!;
  const id = latin1(bytes, idStart, idEnd);
  const attach = latin1(bytes, idEnd + 1, rest);
  const end = metaStart + metaLength;
  if (kind === TerminusEntry.sent)
    return { kind, id, attach, key: latin1(bytes, rest, end), info: undefined, detachedAt: 0 };
  const number = view.getFloat64(rest, true);
  if (kind === TerminusEntry.acquired) return { kind, id, attach, key: number, info: undefined, detachedAt: 0 };
  const info = JSON.parse(Buffer.from(bytes.subarray(rest + 8, end)).toString('utf8')) as TerminusInfo;
  return { kind, id, attach, key: '', info, detachedAt: number };
}

export function ofTerminus(id: string, attach: string, info: TerminusInfo, detachedAt: number): MessageParts {
  return partsOf(
    TerminusEntry.terminus,
    id,
    attach,
    numberBytes(detachedAt),
    Buffer.from(JSON.stringify(info), 'utf8'),
  );
}

export function ofSent(id: string, attach: string, tag: string): MessageParts {
  return partsOf(TerminusEntry.sent, id, attach, Buffer.from(tag, 'latin1'));
}

export function ofAcquired(id: string, attach: string, position: Lsn): MessageParts {
  return partsOf(TerminusEntry.acquired, id, attach, numberBytes(position));
}

function partsOf(kind: TerminusEntry, id: string, attach: string, ...rest: Uint8Array[]): MessageParts {
  const head = Buffer.from(
    `\0${String.fromCharCode(id.length)}${id}${String.fromCharCode(attach.length)}${attach}`,
    'latin1',
  );
  head[0] = kind;
  const parts = new MessageParts();
  parts.setMeta(new Uint8Array(Buffer.concat([head, ...rest])));
  return parts;
}

function numberBytes(number: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, number, true);
  return bytes;
}

function latin1(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1');
}

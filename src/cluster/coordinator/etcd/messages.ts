/**
 * The part of etcd's API, version 3, that is used here: numbers of fields are those of rpc.proto, kv.proto and auth.proto.
 * What is not sent has its default in protobuf: 0, false, empty.
 */
import { type Field, fieldsOf, ProtobufWriter } from './protobuf.js';

/** Begins every answer. */
export interface Header {
  /** Hexadecimal. */
  clusterId: string;
  /** Of the store, when the answer was given; it grows with every change. */
  revision: number;
}

export interface KeyValue {
  key: string;
  value: string;
  /** When this key was last changed. */
  modRevision: number;
}

export interface RangeAnswer {
  header: Header;
  kvs: KeyValue[];
}

export interface TxnAnswer {
  header: Header;
  succeeded: boolean;
  /** What the requested readings found, in order; empty for a change. */
  ranges: KeyValue[][];
}

export interface WatchAnswer {
  header: Header;
  /** The watch has ended, for this reason. */
  canceled: boolean;
  cancelReason: string;
  /** Above 0: what was asked for is compacted away, up to here. */
  compactRevision: number;
  /** In order; of a deletion `kv` has no value. */
  events: { deleted: boolean; kv: KeyValue }[];
}

/** A change under the condition that the key was last changed at `expect`; 0: that it does not exist. */
export interface ConditionalChange {
  key: string;
  expect: number;
  /** Null deletes. */
  value: string | null;
}

export const Method = {
  range: '/etcdserverpb.KV/Range',
  txn: '/etcdserverpb.KV/Txn',
  watch: '/etcdserverpb.Watch/Watch',
  authenticate: '/etcdserverpb.Auth/Authenticate',
} as const;

/** Values of Compare.CompareTarget; CompareResult.EQUAL is 0. */
const compareMod = 2;
const eventDelete = 1;

/** The first key after all that begin with `prefix`, which is not empty. */
function endOf(prefix: string): Buffer {
  const end = Buffer.from(prefix);
  // No byte of UTF-8 is 0xff.
  end[end.length - 1]!++;
  return end;
}

/** Reads one key: linearizable, as all requests are that do not say otherwise. */
export function encodeGet(key: string): Buffer {
  return get(key).finish();
}

export function encodeRange(prefix: string): Buffer {
  return get(prefix).bytes(2, endOf(prefix)).finish();
}

function get(key: string): ProtobufWriter {
  return new ProtobufWriter().text(1, key);
}

/** All changes if every condition holds; if not, what stands under each key. */
export function encodeSwap(changes: readonly ConditionalChange[]): Buffer {
  const txn = new ProtobufWriter();
  for (const { key, expect } of changes)
    txn.message(1, new ProtobufWriter().varint(2, compareMod).text(3, key).varint(6, expect));
  for (const { key, value } of changes) {
    const operation = new ProtobufWriter();
    if (value === null) operation.message(3, new ProtobufWriter().text(1, key));
    else operation.message(2, new ProtobufWriter().text(1, key).text(2, value));
    txn.message(2, operation);
  }
  for (const { key } of changes) txn.message(3, new ProtobufWriter().message(1, get(key)));
  return txn.finish();
}

/** Watches all keys that begin with `prefix`, from the change of that revision on. */
export function encodeWatch(prefix: string, fromRevision: number): Buffer {
  const create = get(prefix).bytes(2, endOf(prefix)).varint(3, fromRevision);
  return new ProtobufWriter().message(1, create).finish();
}

export function encodeAuthenticate(name: string, password: string): Buffer {
  return new ProtobufWriter().text(1, name).text(2, password).finish();
}

export function decodeRange(message: Buffer): RangeAnswer {
  const answer: RangeAnswer = { header: noHeader, kvs: [] };
  for (const field of fieldsOf(message)) {
    if (field.id === 1) answer.header = decodeHeader(field);
    else if (field.id === 2) answer.kvs.push(decodeKeyValue(field));
  }
  return answer;
}

export function decodeTxn(message: Buffer): TxnAnswer {
  const answer: TxnAnswer = { header: noHeader, succeeded: false, ranges: [] };
  for (const field of fieldsOf(message)) {
    if (field.id === 1) answer.header = decodeHeader(field);
    else if (field.id === 2) answer.succeeded = field.number !== 0n;
    else if (field.id === 3) {
      const [response] = fieldsOf(field.bytes);
      answer.ranges.push(response?.id === 1 ? decodeRange(response.bytes).kvs : []);
    }
  }
  return answer;
}

export function decodeWatch(message: Buffer): WatchAnswer {
  const answer: WatchAnswer = {
    header: noHeader,
    canceled: false,
    cancelReason: '',
    compactRevision: 0,
    events: [],
  };
  for (const field of fieldsOf(message)) {
    if (field.id === 1) answer.header = decodeHeader(field);
    else if (field.id === 4) answer.canceled = field.number !== 0n;
    else if (field.id === 5) answer.compactRevision = Number(field.number);
    else if (field.id === 6) answer.cancelReason = field.bytes.toString();
    else if (field.id === 11) answer.events.push(decodeEvent(field));
  }
  return answer;
}

/** The token that later requests carry. */
export function decodeAuthenticate(message: Buffer): string {
  for (const field of fieldsOf(message)) if (field.id === 2) return field.bytes.toString();
  return '';
}

const noHeader: Header = { clusterId: '', revision: 0 };

function decodeHeader({ bytes }: Field): Header {
  const header = { ...noHeader };
  for (const field of fieldsOf(bytes)) {
    if (field.id === 1) header.clusterId = field.number.toString(16);
    else if (field.id === 3) header.revision = Number(field.number);
  }
  return header;
}

function decodeKeyValue({ bytes }: Field): KeyValue {
  const kv: KeyValue = { key: '', value: '', modRevision: 0 };
  for (const field of fieldsOf(bytes)) {
    if (field.id === 1) kv.key = field.bytes.toString();
    else if (field.id === 3) kv.modRevision = Number(field.number);
    else if (field.id === 5) kv.value = field.bytes.toString();
  }
  return kv;
}

function decodeEvent({ bytes }: Field): { deleted: boolean; kv: KeyValue } {
  const event = { deleted: false, kv: { key: '', value: '', modRevision: 0 } };
  for (const field of fieldsOf(bytes)) {
    if (field.id === 1) event.deleted = Number(field.number) === eventDelete;
    else if (field.id === 2) event.kv = decodeKeyValue(field);
  }
  return event;
}

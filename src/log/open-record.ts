/** Records by which queues come to be and go: their layout stands in record.ts. */
import { RecordFlag } from './record-flag.js';
import { RecordKind } from './record-kind.js';
import type { ReplicaOptions } from './replica-options.js';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Bytes of an `open` record (lsn unset). Always durable, for queues that are not, too: a replica that was restarted must not
 * take a queue that lives on in the wiring for one that was deleted.
 */
export function encodeOpen(incarnation: number, wiringVersion: number, options: ReplicaOptions): Uint8Array {
  const json = encoder.encode(JSON.stringify(options));
  const bytes = new Uint8Array(32 + json.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, bytes.length, true);
  bytes[4] = RecordKind.open;
  bytes[5] = RecordFlag.durable;
  view.setFloat64(16, incarnation, true);
  view.setFloat64(24, wiringVersion, true);
  bytes.set(json, 32);
  return bytes;
}

/** Bytes of a `drop` record (lsn unset); always durable, as the `open`. */
export function encodeDrop(incarnation: number, wiringVersion: number): Uint8Array {
  const bytes = new Uint8Array(32);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, bytes.length, true);
  bytes[4] = RecordKind.drop;
  bytes[5] = RecordFlag.durable;
  view.setFloat64(16, incarnation, true);
  view.setFloat64(24, wiringVersion, true);
  return bytes;
}

/** What queues say mostly, by its JSON: they share it. */
const knownOptions = new Map(
  [true, false].map((durable): [string, ReplicaOptions] => [JSON.stringify({ durable }), Object.freeze({ durable })]),
);

export function decodeOpenOptions(bytes: Uint8Array, view: DataView, at: number): ReplicaOptions {
  const text = decoder.decode(bytes.subarray(at + 32, at + view.getUint32(at, true)));
  const known = knownOptions.get(text);
  return known ?? (JSON.parse(text) as ReplicaOptions);
}

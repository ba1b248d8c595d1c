/** Steps of cases with local transactions. */
import assert from 'node:assert/strict';
import {
  Coordinator,
  Declare,
  type Declared,
  type DeliveryState,
  Descriptor,
  Discharge,
  type Disposition,
  Rejected,
  Source,
  TransactionalState,
} from '../../src/amqp10/codec/index.js';
import { ListWriter } from '../../src/amqp10/codec/list-writer.js';
import { ByteWriter } from '../../src/wire/byte-writer.js';
import type { RawClient10 } from '../support/raw-client10.js';
import type { Client } from './client.js';
import { delivery, message } from './messages10.js';

/** The link to the coordinator. */
export const control: number = 9;

/** A message whose amqp-value is that. */
export function order(value: Declare | Discharge): Uint8Array {
  const writer = new ByteWriter();
  writer.raw(Uint8Array.of(0, 0x53, 0x77));
  value.encode(new ListWriter(writer));
  return writer.take();
}

export async function coordinator(raw: RawClient10, source: Source = new Source(), channel = 0): Promise<void> {
  raw.attachSender(undefined, { handle: control, name: 'coordinator', target: new Coordinator(), source }, channel);
  const { target } = await raw.expect(Descriptor.attach);
  assert.equal(target?.descriptor, Descriptor.coordinator);
  assert.ok(target.capabilities?.includes('amqp:local-transactions'));
  assert.ok((await raw.expect(Descriptor.flow)).linkCredit! > 10);
}

export async function told(raw: RawClient10, id: number, role = true): Promise<Disposition> {
  let received = await raw.next();
  while (received.body === undefined || received.body.descriptor === Descriptor.flow) received = await raw.next();
  const disposition = received.body as Disposition;
  assert.equal(disposition.descriptor, Descriptor.disposition, JSON.stringify(disposition));
  assert.deepEqual([disposition.role, disposition.first, disposition.settled], [role, id, true]);
  return disposition;
}

export async function declare(raw: RawClient10): Promise<Uint8Array> {
  const { state } = await told(raw, raw.transfer(order(new Declare()), { handle: control }));
  assert.equal(state?.descriptor, Descriptor.declared);
  return (state as Declared).txnId;
}

export function sendDischarge(raw: RawClient10, txnId: Uint8Array, fail: boolean): number {
  return raw.transfer(order(Object.assign(new Discharge(), { txnId, fail })), { handle: control });
}

export async function discharge(raw: RawClient10, txnId: Uint8Array, fail = false): Promise<DeliveryState | undefined> {
  return (await told(raw, sendDischarge(raw, txnId, fail))).state;
}

export async function commit(raw: RawClient10, txnId: Uint8Array): Promise<void> {
  const state = await discharge(raw, txnId);
  assert.equal(state?.descriptor, Descriptor.accepted, JSON.stringify(state));
}

export async function rollback(raw: RawClient10, txnId: Uint8Array): Promise<void> {
  assert.equal((await discharge(raw, txnId, true))?.descriptor, Descriptor.accepted);
}

export function within(txnId: Uint8Array, outcome?: DeliveryState): TransactionalState {
  return Object.assign(new TransactionalState(), { txnId, outcome });
}

/** Publishes in the transaction; resolves to what its outcome will be. */
export async function post(raw: RawClient10, txnId: Uint8Array, text: string, handle = 0): Promise<DeliveryState> {
  const { state } = await told(raw, raw.transfer(message(text), { handle, state: within(txnId) }));
  assert.equal(state?.descriptor, Descriptor.transactionalState);
  const { txnId: named, outcome } = state as TransactionalState;
  assert.deepEqual(Buffer.from(named), Buffer.from(txnId));
  return outcome!;
}

export function rejection(state: DeliveryState | undefined, condition: string, text?: RegExp): void {
  assert.equal(state?.descriptor, Descriptor.rejected, JSON.stringify(state));
  const { error } = state as Rejected;
  assert.equal(error?.condition, condition, error?.description);
  if (text !== undefined) assert.match(error?.description ?? '', text);
}

/** A queue with those messages, and a receiver on handle 1 that has them; resolves to their delivery ids. */
export async function holding(raw: RawClient10, client: Client, queue: string, ...texts: string[]): Promise<number[]> {
  await client.send(queue, ...texts);
  await raw.receiver(`/queues/${queue}`, texts.length, { handle: 1 });
  const ids: number[] = [];
  for (const text of texts) {
    const one = await delivery(raw);
    assert.equal(one.text, text);
    ids.push(one.id);
  }
  return ids;
}

/** What hostile clients of AMQP 1.0 do, in numbers. */
import assert from 'node:assert/strict';
import { Begin, Descriptor } from '../../../src/amqp10/codec/index.js';
import { message } from '../../conformance/messages10.js';
import { coordinator, declare, within } from '../../conformance/transactions10.js';
import { RawClient10 } from '../raw-client10.js';

const patienceMs = 60_000;

/** Takes what comes until so many frames of that kind have. */
async function until(raw: RawClient10, descriptor: number, count: number): Promise<void> {
  for (let left = count; left > 0; ) {
    const { body } = await raw.next();
    if (body?.descriptor === descriptor) left--;
    else if (body?.descriptor === Descriptor.end || body?.descriptor === Descriptor.close)
      assert.fail(`${body.error?.condition} ${body.error?.description}`);
  }
}

/** A connection with so many links, `each` in a session. */
export async function links(port: number, queue: string, count: number, each: number): Promise<RawClient10> {
  const raw = await RawClient10.open(port, {}, patienceMs);
  for (let session = 0; session * each < count; session++) {
    const begin = { nextOutgoingId: 0, incomingWindow: 1000, outgoingWindow: 1000 };
    raw.send(session, Object.assign(new Begin(), begin));
    await until(raw, Descriptor.begin, 1);
    for (let handle = 0; handle < each; handle++)
      raw.attachSender(`/queues/${queue}`, { handle, name: `${session}-${handle}` }, session);
    await until(raw, Descriptor.attach, each);
  }
  return raw;
}

/** A connection that publishes so many bytes in transactions and discharges none. */
export async function undischarged(port: number, queue: string, bytes: number): Promise<RawClient10> {
  const raw = await RawClient10.open(port, {}, patienceMs);
  await raw.begin(0, { incomingWindow: 1_000_000 });
  await coordinator(raw);
  await raw.sender(`/queues/${queue}`);
  const large = message('x'.repeat(100_000));
  for (let sent = 0; sent < bytes; ) {
    const state = within(await declare(raw));
    const count = 100;
    for (let i = 0; i < count; i++) raw.transfer(large, { state });
    await until(raw, Descriptor.disposition, count);
    sent += count * large.length;
  }
  return raw;
}

/** A connection that is given so many messages and settles none. */
export async function unsettling(port: number, queue: string, count: number): Promise<RawClient10> {
  const raw = await RawClient10.open(port, {}, patienceMs);
  await raw.begin(0, { incomingWindow: 0x7fff_ffff });
  await raw.receiver(`/queues/${queue}`, 0);
  raw.flow({ handle: 0, deliveryCount: 0, linkCredit: 0xffff_ffff, incomingWindow: 0x7fff_ffff });
  await until(raw, Descriptor.transfer, count);
  return raw;
}

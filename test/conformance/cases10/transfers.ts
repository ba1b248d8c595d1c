/** Credit, transfers and what becomes of them, in both directions. */
import assert from 'node:assert/strict';
import {
  Descriptor,
  type Disposition,
  ErrorFields,
  Modified,
  Rejected,
  Released,
} from '../../../src/amqp10/codec/index.js';
import type { RawClient10 } from '../../support/raw-client10.js';
import type { Case } from '../case.js';
import { detaches, sessionRule } from '../case10.js';
import { accepted, delivery, message, section } from '../messages10.js';

const released = new Released();
const deliveryFailed = Object.assign(new Modified(), { deliveryFailed: true });
const undeliverable = Object.assign(new Modified(), { undeliverableHere: true });

/** Outcomes of that many deliveries of this client's, in order of their ids. */
async function outcomes(raw: RawClient10, count: number): Promise<Disposition[]> {
  const seen: Disposition[] = [];
  for (let told = 0; told < count; ) {
    const disposition = await raw.expect(Descriptor.disposition);
    assert.deepEqual([disposition.role, disposition.settled], [true, true]);
    told += (disposition.last ?? disposition.first) - disposition.first + 1;
    seen.push(disposition);
  }
  return seen;
}

async function outcome(raw: RawClient10): Promise<number> {
  return (await outcomes(raw, 1))[0]!.state!.descriptor;
}

const sending: readonly Case[] = [
  sessionRule('AMQP 1.0 §2.6.12', 'a transfer is accepted when it is in its queue', async (raw, client) => {
    const queue = await client.queue();
    await raw.sender(`/queues/${queue}`);
    raw.transfer(message('hello'));
    assert.equal(await outcome(raw), Descriptor.accepted);
    assert.deepEqual(await client.drain(queue), ['hello']);
  }),
  sessionRule('AMQP 1.0 §2.6.12', 'many are accepted, each once, in ranges', async (raw, client) => {
    const queue = await client.queue();
    await raw.sender(`/queues/${queue}`);
    for (let i = 0; i < 500; i++) raw.transfer(message(String(i)));
    const told = await outcomes(raw, 500);
    const ids = told.flatMap(({ first, last }) =>
      Array.from({ length: (last ?? first) - first + 1 }, (_, i) => first + i),
    );
    assert.deepEqual(
      ids.sort((a, b) => a - b),
      Array.from({ length: 500 }, (_, i) => i),
    );
    assert.equal(await client.count(queue), 500);
  }),
  sessionRule('AMQP 1.0 §2.6.12', 'a transfer that is settled has no outcome', async (raw, client) => {
    const queue = await client.queue();
    await raw.sender(`/queues/${queue}`);
    raw.transfer(message('a'), { settled: true });
    raw.transfer(message('b'));
    const [only] = await outcomes(raw, 1);
    assert.equal(only!.first, 1);
    assert.deepEqual(await client.drain(queue), ['a', 'b']);
  }),
  sessionRule('AMQP 1.0 §2.6.14', 'a delivery may come in any number of frames', async (raw, client) => {
    const queue = await client.queue();
    await raw.sender(`/queues/${queue}`);
    const whole = message('z'.repeat(1000));
    for (let at = 0; at < whole.length; at += 100) {
      const more = at + 100 < whole.length;
      // Only the first has to say what it is.
      const rest =
        at === 0 ? { deliveryId: 0 } : { deliveryId: undefined, deliveryTag: undefined, messageFormat: undefined };
      raw.transfer(whole.slice(at, at + 100), { ...rest, more } as never);
    }
    assert.equal(await outcome(raw), Descriptor.accepted);
    assert.deepEqual(await client.drain(queue), ['z'.repeat(1000)]);
  }),
  sessionRule('AMQP 1.0 §2.6.14', 'a delivery that is aborted never was', async (raw, client) => {
    const queue = await client.queue();
    await raw.sender(`/queues/${queue}`);
    raw.transfer(message('gone').slice(0, 5), { more: true });
    raw.transfer(new Uint8Array(0), { deliveryId: 0, aborted: true });
    raw.transfer(message('stays'), { deliveryId: 1 });
    const [only] = await outcomes(raw, 1);
    assert.equal(only!.first, 1);
    assert.deepEqual(await client.drain(queue), ['stays']);
  }),
  sessionRule(
    'AMQP 1.0 §2.6.7',
    'credit is given again as it is used, and never more than can be used',
    async (raw, client) => {
      const queue = await client.queue();
      let { linkCredit: credit = 0 } = await raw.sender(`/queues/${queue}`);
      for (let sent = 0; sent < 3000; ) {
        for (; credit > 0 && sent < 3000; credit--, sent++) raw.transfer(message('x'), { settled: true });
        if (sent === 3000) break;
        const flow = await raw.expect(Descriptor.flow);
        if (flow.handle !== undefined) credit = (flow.deliveryCount! + flow.linkCredit! - sent) | 0;
      }
      await client.becomes(queue, 3000);
    },
  ),
  sessionRule(
    'x-flow-stop-count',
    'a queue that is too full takes the credit of those who send to it, until it is not',
    async (raw, client) => {
      const queue = await client.queue({ 'x-flow-stop-count': 10 });
      const other = await client.queue();
      await raw.sender(`/queues/${queue}`, { handle: 0 });
      await raw.sender(`/queues/${other}`, { handle: 1 });
      let sent = 0;
      for (let credit = 1; credit > 0; ) {
        assert.ok(sent < 1000, 'it is never told to stop');
        raw.transfer(message(String(sent)), { handle: 0 });
        sent++;
        for (let told = false; !told; ) {
          const { body } = await raw.next();
          if (body?.descriptor === Descriptor.disposition) told = true;
          else if (body?.descriptor === Descriptor.flow) {
            assert.equal(body.handle, 0);
            credit = body.linkCredit!;
          }
        }
      }
      assert.ok(sent >= 10 && sent < 30, `${sent} messages`);
      // What was under way counts, and others go on.
      raw.transfer(message('late'), { handle: 0 });
      raw.transfer(message('x'), { handle: 1 });
      await outcomes(raw, 2);
      raw.flow({ handle: 0, echo: true });
      assert.equal((await raw.expect(Descriptor.flow)).linkCredit, 0);
      assert.equal((await client.drain(queue)).length, sent + 1);
      const flow = await raw.expect(Descriptor.flow);
      assert.deepEqual([flow.handle, flow.deliveryCount], [0, sent + 1]);
      assert.ok(flow.linkCredit! > 100);
      raw.transfer(message('again'), { handle: 0 });
      await outcomes(raw, 1);
      assert.deepEqual(await client.drain(queue), ['again']);
    },
  ),
  sessionRule('AMQP 1.0 §2.7.5', 'a first transfer without delivery-id detaches the link', async (raw, client) => {
    await raw.sender(`/queues/${await client.queue()}`);
    raw.sendBody(0, '00 53 14 c0 03 01 52 00');
    await detaches(raw, 'amqp:invalid-field', /delivery-id/);
  }),
  sessionRule('AMQP 1.0 §1.4', 'frames mean the same with descriptors of every form', async (raw, client) => {
    const queue = await client.queue();
    await raw.sender(`/queues/${queue}`, { handle: 0 });
    const data = Buffer.from(message('x')).toString('hex');
    const symbol = Buffer.from('amqp:transfer:list').toString('hex');
    raw.sendBody(0, `00 a3 12 ${symbol} c0 08 05 43 43 a0 01 30 43 41 ${data}`);
    raw.sendBody(0, `00 80 0000000000000014 c0 09 05 43 52 01 a0 01 31 43 42 ${data}`);
    assert.equal(await outcome(raw), Descriptor.accepted);
    assert.deepEqual(await client.drain(queue), ['x', 'x']);
  }),
  sessionRule('AMQP 1.0 §3.2', 'what is no message is rejected, and the link goes on', async (raw, client) => {
    const queue = await client.queue();
    await raw.sender(`/queues/${queue}`);
    raw.transfer(Buffer.from('no message'));
    const [told] = await outcomes(raw, 1);
    assert.equal((told!.state as Rejected).error?.condition, 'amqp:decode-error');
    raw.transfer(message('good'));
    assert.equal(await outcome(raw), Descriptor.accepted);
    assert.deepEqual(await client.drain(queue), ['good']);
  }),
  sessionRule('AMQP 1.0 §2.7.5', 'a message-format that is not known is rejected', async (raw, client) => {
    await raw.sender(`/queues/${await client.queue()}`);
    raw.transfer(message('x'), { messageFormat: 7 });
    const [told] = await outcomes(raw, 1);
    assert.equal((told!.state as Rejected).error?.condition, 'amqp:not-implemented');
  }),
  sessionRule('AMQP 1.0 §3.4.4', 'what reaches no queue is released', async (raw, client) => {
    const exchange = await client.exchange('direct');
    await raw.sender(`/exchanges/${exchange}/nowhere`);
    raw.transfer(message('x'));
    assert.equal(await outcome(raw), Descriptor.released);
  }),
  sessionRule('AMQP 1.0 §3.4.3', 'what a queue refuses is rejected', async (raw, client) => {
    const queue = await client.queue({ 'x-max-length': 1, 'x-overflow': 'reject-publish' });
    await raw.sender(`/queues/${queue}`);
    raw.transfer(message('first'));
    assert.equal(await outcome(raw), Descriptor.accepted);
    raw.transfer(message('second'));
    assert.equal(await outcome(raw), Descriptor.rejected);
  }),
  sessionRule('addresses', 'an exchange takes the routing key of the address, or the subject', async (raw, client) => {
    const exchange = await client.exchange('direct');
    const queue = await client.bound(exchange, 'a key/ü');
    await raw.sender(`/exchanges/${exchange}/${encodeURIComponent('a key/ü')}`, { handle: 0 });
    await raw.sender(`/exchanges/${exchange}`, { handle: 1 });
    await raw.sender(exchange, { handle: 2 });
    await raw.sender(`/exchange/${exchange}/a key/ü`, { handle: 3 });
    const properties = { subject: 'a key/ü' };
    raw.transfer(message('address'), { handle: 0 });
    raw.transfer(message('subject', { properties }), { handle: 1 });
    raw.transfer(message('plain', { properties }), { handle: 2 });
    raw.transfer(message('old'), { handle: 3 });
    for (const { state } of await outcomes(raw, 4)) assert.equal(state!.descriptor, Descriptor.accepted);
    assert.deepEqual(await client.drain(queue), ['address', 'subject', 'plain', 'old']);
  }),
  sessionRule('addresses', 'a queue has names in all forms', async (raw, client) => {
    const queue = await client.queue();
    const forms = [
      `/queues/${queue}`,
      queue,
      `/queue/${queue}`,
      `/amq/queue/${queue}`,
      `/exchanges/amq.default/${queue}`,
    ];
    for (const [handle, address] of forms.slice(0, 4).entries()) {
      await raw.sender(address, { handle });
      raw.transfer(message(address), { handle });
      assert.equal(await outcome(raw), Descriptor.accepted);
    }
    assert.deepEqual(await client.drain(queue), forms.slice(0, 4));
  }),
  sessionRule('anonymous terminus', 'without an address each message says where it goes', async (raw, client) => {
    const queue = await client.queue();
    await raw.sender(undefined);
    raw.transfer(message('x', { properties: { to: `/queues/${queue}` } }));
    raw.transfer(message('y', { properties: { to: `/queues/none-such` } }));
    raw.transfer(message('z'));
    const told = await outcomes(raw, 3);
    told.sort((a, b) => a.first - b.first);
    assert.deepEqual(
      told.map(({ state }) => state!.descriptor),
      [Descriptor.accepted, Descriptor.released, Descriptor.rejected],
    );
    assert.deepEqual(await client.drain(queue), ['x']);
  }),
  sessionRule('AMQP 1.0 §3.2.4', "a message in another's name detaches the link", async (raw, client) => {
    await raw.sender(`/queues/${await client.queue()}`);
    raw.transfer(message('x', { properties: { userId: Buffer.from('guest') } }));
    assert.equal(await outcome(raw), Descriptor.accepted);
    raw.transfer(message('x', { properties: { userId: Buffer.from('somebody') } }));
    await detaches(raw, 'amqp:unauthorized-access', /somebody/);
  }),
];

const receiving: readonly Case[] = [
  sessionRule('AMQP 1.0 §2.6.7', 'a client gets as many deliveries as it has credit', async (raw, client) => {
    const queue = await client.queue();
    await client.send(queue, 'a', 'b', 'c');
    await raw.receiver(`/queues/${queue}`, 2);
    assert.deepEqual([(await delivery(raw)).text, (await delivery(raw)).text], ['a', 'b']);
    await raw.works();
    assert.ok(raw.isQuiet);
    raw.flow({ handle: 0, deliveryCount: 2, linkCredit: 1 });
    assert.equal((await delivery(raw)).text, 'c');
  }),
  sessionRule('AMQP 1.0 §2.6.7', 'credit that was taken back is not used', async (raw, client) => {
    const queue = await client.queue();
    await raw.receiver(`/queues/${queue}`, 10);
    raw.flow({ handle: 0, deliveryCount: 0, linkCredit: 0, echo: true });
    assert.equal((await raw.expect(Descriptor.flow)).linkCredit, 0);
    await client.send(queue, 'a', 'b');
    await raw.works();
    assert.ok(raw.isQuiet);
    raw.flow({ handle: 0, deliveryCount: 0, linkCredit: 2 });
    assert.deepEqual([(await delivery(raw)).text, (await delivery(raw)).text], ['a', 'b']);
  }),
  sessionRule('AMQP 1.0 §2.6.7', 'credit for what is not there yet is used when it comes', async (raw, client) => {
    const queue = await client.queue();
    await raw.receiver(`/queues/${queue}`, 3);
    await client.send(queue, 'late');
    assert.equal((await delivery(raw)).text, 'late');
  }),
  sessionRule(
    'AMQP 1.0 §2.6.7',
    'a client that drains gets all there is, and then loses its credit',
    async (raw, client) => {
      const queue = await client.queue();
      await client.send(queue, 'a', 'b');
      await raw.receiver(`/queues/${queue}`, 0);
      raw.flow({ handle: 0, deliveryCount: 0, linkCredit: 5, drain: true });
      assert.deepEqual([(await delivery(raw)).text, (await delivery(raw)).text], ['a', 'b']);
      const flow = await raw.expect(Descriptor.flow);
      assert.deepEqual([flow.deliveryCount, flow.linkCredit, flow.drain], [5, 0, true]);
      await client.send(queue, 'c');
      await raw.works();
      assert.ok(raw.isQuiet);
      raw.flow({ handle: 0, deliveryCount: 5, linkCredit: 1 });
      assert.equal((await delivery(raw)).text, 'c');
    },
  ),
  sessionRule('AMQP 1.0 §2.6.7', 'draining an empty queue takes the credit at once', async (raw, client) => {
    await raw.receiver(`/queues/${await client.queue()}`, 0);
    raw.flow({ handle: 0, deliveryCount: 0, linkCredit: 7, drain: true });
    const flow = await raw.expect(Descriptor.flow);
    assert.deepEqual([flow.deliveryCount, flow.linkCredit], [7, 0]);
  }),
  sessionRule('AMQP 1.0 §2.7.4', 'a flow of a link that asks for an echo gets its state', async (raw, client) => {
    await raw.receiver(`/queues/${await client.queue()}`, 0);
    raw.flow({ handle: 0, deliveryCount: 0, linkCredit: 3, echo: true });
    const flow = await raw.expect(Descriptor.flow);
    assert.deepEqual([flow.handle, flow.linkCredit], [0, 3]);
  }),
  sessionRule('AMQP 1.0 §3.4.2', 'accepted takes the message out of its queue', async (raw, client) => {
    const queue = await client.queue();
    await client.send(queue, 'a');
    await raw.receiver(`/queues/${queue}`, 1);
    raw.settle((await delivery(raw)).id, accepted);
    await raw.works();
    raw.end();
    await client.becomes(queue, 0);
  }),
  sessionRule('AMQP 1.0 §2.7.6', 'one disposition may settle many', async (raw, client) => {
    const queue = await client.queue();
    await client.send(queue, 'a', 'b', 'c', 'd');
    await raw.receiver(`/queues/${queue}`, 4);
    for (let i = 0; i < 4; i++) await delivery(raw);
    raw.settle(1, accepted, { last: 2 });
    await raw.works();
    raw.end();
    await client.becomes(queue, 2);
    assert.deepEqual(await client.drain(queue), ['a', 'd']);
  }),
  sessionRule('AMQP 1.0 §3.4.4', 'released puts it back to its place', async (raw, client) => {
    const queue = await client.queue();
    await client.send(queue, 'a', 'b');
    await raw.receiver(`/queues/${queue}`, 1);
    raw.settle((await delivery(raw)).id, released);
    raw.flow({ handle: 0, deliveryCount: 1, linkCredit: 1 });
    const again = await delivery(raw);
    assert.deepEqual([again.text, again.redelivered], ['a', true]);
  }),
  ...(
    [
      [
        'rejected',
        '§3.4.3',
        Object.assign(new Rejected(), { error: Object.assign(new ErrorFields(), { condition: 'x:y' }) }),
      ],
      ['modified with undeliverable-here', '§3.4.5', undeliverable],
    ] as const
  ).map(([what, source, state]) =>
    sessionRule(`AMQP 1.0 ${source}`, `${what} sends it to the dead-letter exchange`, async (raw, client) => {
      const dead = await client.queue();
      const queue = await client.queue({ 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': dead });
      await raw.sender(`/queues/${queue}`, { handle: 0 });
      raw.transfer(message('bad', { header: { ttl: 60_000 } }));
      await outcome(raw);
      await raw.receiver(`/queues/${queue}`, 1, { handle: 1 });
      raw.settle((await delivery(raw)).id, state);
      const { content, properties } = await client.soon(dead);
      assert.equal(content.toString(), 'bad');
      const [death] = properties.headers!['x-death'] as unknown as { queue: string; reason: string; count: number }[];
      assert.deepEqual([death!.queue, death!.reason, death!.count], [queue, 'rejected', 1]);
      assert.equal(properties.expiration, undefined);
    }),
  ),
  sessionRule('AMQP 1.0 §3.4.5', 'modified with delivery-failed counts', async (raw, client) => {
    const queue = await client.quorumQueue();
    await client.send(queue, 'a');
    await raw.receiver(`/queues/${queue}`, 1);
    raw.settle((await delivery(raw)).id, deliveryFailed);
    raw.flow({ handle: 0, deliveryCount: 1, linkCredit: 1 });
    const again = await delivery(raw);
    assert.equal(again.redelivered, true);
    assert.match(Buffer.from(again.view.bytes.subarray(0, again.view.headerEnd)).toString('hex'), /7000000001$/);
  }),
  sessionRule('AMQP 1.0 §2.6.12', 'a receiver that settles second is answered', async (raw, client) => {
    const queue = await client.queue();
    await client.send(queue, 'a');
    await raw.receiver(`/queues/${queue}`, 1, { rcvSettleMode: 1 });
    const { id } = await delivery(raw);
    raw.settle(id, accepted, { settled: false });
    const answer = await raw.expect(Descriptor.disposition);
    assert.deepEqual([answer.role, answer.first, answer.settled, answer.state], [false, id, true, accepted]);
    await client.becomes(queue, 0);
  }),
  sessionRule('AMQP 1.0 §2.6.12', 'a receiver that wants settled deliveries gets them so', async (raw, client) => {
    const queue = await client.queue();
    await client.send(queue, 'a');
    await raw.receiver(`/queues/${queue}`, 5, { sndSettleMode: 1 });
    assert.equal((await delivery(raw)).settled, true);
    await raw.works();
    raw.end();
    await client.becomes(queue, 0);
    assert.equal(await client.count(queue), 0);
  }),
  sessionRule('AMQP 1.0 §3.2', 'the bare message comes out byte for byte', async (raw, client) => {
    const queue = await client.queue();
    await raw.sender(`/queues/${queue}`, { handle: 0 });
    // In forms that nobody would choose: long lengths, a symbolic descriptor, a footer.
    const name = Buffer.from('amqp:properties:list').toString('hex');
    const bare = Buffer.from(
      `00a314${name}d000000006000000024340` + '005375b000000003010203' + '005378d10000000400000000',
      'hex',
    );
    raw.transfer(Buffer.concat([section(Descriptor.header, [true]), bare]));
    assert.equal(await outcome(raw), Descriptor.accepted);
    await raw.receiver(`/queues/${queue}`, 1, { handle: 1 });
    const { view } = await delivery(raw);
    assert.equal(Buffer.from(view.bytes.subarray(view.keptStart, view.end)).toString('hex'), bare.toString('hex'));
  }),
];

export const transfers10: readonly Case[] = [...sending, ...receiving];

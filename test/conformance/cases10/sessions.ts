/** Sessions and their windows; attach and detach, and what ends them. */
import assert from 'node:assert/strict';
import { Descriptor, Detach, End, Source, Target, textOf } from '../../../src/amqp10/codec/index.js';
import type { Case } from '../case.js';
import { detaches, endsSession, openRule, sessionRule } from '../case10.js';
import { accepted, delivery, message, read } from '../messages10.js';

function detach(handle: number): Detach {
  return Object.assign(new Detach(), { handle, closed: true });
}

export const sessions10: readonly Case[] = [
  openRule('AMQP 1.0 §2.5.1', 'begin is answered with begin, which names its channel', async (raw) => {
    const begin = await raw.begin(9);
    assert.equal(begin.remoteChannel, 9);
    assert.ok(begin.incomingWindow > 0);
  }),
  openRule('AMQP 1.0 §2.5.2', 'end is answered with end, and the channel can be used again', async (raw) => {
    for (let i = 0; i < 3; i++) {
      await raw.begin(3);
      raw.send(3, new End());
      assert.equal((await raw.expect(Descriptor.end)).error, undefined);
    }
  }),
  sessionRule('AMQP 1.0 §2.7.4', 'a flow that asks for an echo gets one', async (raw) => {
    raw.flow({ echo: true });
    const flow = await raw.expect(Descriptor.flow);
    assert.equal(flow.handle, undefined);
    assert.equal(flow.nextIncomingId, 0);
  }),
  sessionRule('AMQP 1.0 §2.8.17', 'a handle that is in use ends the session', async (raw, client) => {
    const queue = await client.queue();
    await raw.sender(`/queues/${queue}`);
    raw.attachSender(`/queues/${queue}`);
    await endsSession(raw, 'amqp:session:handle-in-use');
  }),
  ...(
    [
      ['a transfer', '00 53 14 c0 05 02 52 07 52 00'],
      ['a flow', '00 53 13 c0 0b 07 43 52 64 43 52 64 52 07 43 43'],
      ['a detach', '00 53 16 c0 03 01 52 07'],
    ] as const
  ).map(([what, hex]) =>
    sessionRule('AMQP 1.0 §2.8.17', `${what} for a handle that is not attached ends the session`, async (raw) => {
      raw.sendBody(0, hex);
      await endsSession(raw, 'amqp:session:unattached-handle', /handle 7/);
    }),
  ),
  sessionRule(
    'AMQP 1.0 §2.8.17',
    'a transfer on a link on which the broker sends ends the session',
    async (raw, client) => {
      await raw.receiver(`/queues/${await client.queue()}`, 0);
      raw.transfer(message('x'));
      await endsSession(raw, 'amqp:session:errant-link');
    },
  ),
  sessionRule(
    'AMQP 1.0 §2.5.6',
    'the broker sends no more transfers than the window has room for',
    async (raw, client) => {
      const queue = await client.queue();
      await client.send(queue, ...Array.from({ length: 40 }, (_, i) => String(i)));
      raw.send(0, new End());
      await raw.expect(Descriptor.end);
      const { nextOutgoingId } = await raw.begin(0, { incomingWindow: 4 });
      await raw.receiver(`/queues/${queue}`, 0);
      raw.flow({ handle: 0, deliveryCount: 0, linkCredit: 100, incomingWindow: 4, nextIncomingId: nextOutgoingId });
      for (let seen = 0; seen < 40; ) {
        for (let i = 0; i < 4 && seen < 40; i++, seen++) assert.equal((await delivery(raw)).text, String(seen));
        await raw.works(10 + seen);
        assert.ok(raw.isQuiet, `after ${seen}`);
        raw.flow({ nextIncomingId: (nextOutgoingId + seen) >>> 0, incomingWindow: 4 });
      }
    },
  ),
  sessionRule(
    'AMQP 1.0 §2.6.14',
    'a large delivery goes out in frames that the client takes, as its window opens',
    async (raw, client) => {
      const queue = await client.queue();
      await client.send(queue, 'y'.repeat(3000), 'next');
      raw.send(0, new End());
      await raw.expect(Descriptor.end);
      const { nextOutgoingId } = await raw.begin(0, { incomingWindow: 2 });
      await raw.receiver(`/queues/${queue}`, 0);
      raw.flow({ handle: 0, deliveryCount: 0, linkCredit: 5, incomingWindow: 2, nextIncomingId: nextOutgoingId });
      let seen = 0;
      const parts: Buffer[] = [];
      for (let more = true; more; ) {
        const { body, payload } = await raw.expectFrame(Descriptor.transfer);
        assert.ok(payload.length <= 512);
        assert.equal(body.deliveryId, 0);
        parts.push(payload);
        more = body.more;
        seen++;
        if (seen % 2 === 0) raw.flow({ nextIncomingId: (nextOutgoingId + seen) >>> 0, incomingWindow: 2 });
      }
      assert.ok(seen >= 6);
      assert.ok(Buffer.concat(parts).toString('latin1').endsWith('y'.repeat(3000)));
      raw.flow({ nextIncomingId: (nextOutgoingId + seen) >>> 0, incomingWindow: 2 });
      assert.equal((await delivery(raw)).text, 'next');
    },
    { maxFrameSize: 512 },
  ),
  sessionRule(
    'AMQP 1.0 §2.6.14',
    'very large deliveries and others share a window that is small, each whole',
    async (raw, client) => {
      const [large, small] = [await client.queue(), await client.queue()];
      const sizes = [3_000_000, 20_000];
      await client.send(large, 'l'.repeat(sizes[0]!));
      await client.send(small, ...['s', 't', 'u'].map((letter) => letter.repeat(sizes[1]!)));
      raw.send(0, new End());
      await raw.expect(Descriptor.end);
      const { nextOutgoingId } = await raw.begin(0, { incomingWindow: 5 });
      await raw.receiver(`/queues/${small}`, 0, { handle: 0 });
      await raw.receiver(`/queues/${large}`, 0, { handle: 1 });
      const flow = { deliveryCount: 0, linkCredit: 3, incomingWindow: 5, nextIncomingId: nextOutgoingId };
      for (const handle of [0, 1]) raw.flow({ handle, ...flow });
      const bodies = new Map<number, Buffer[]>();
      let whole = 0;
      for (let seen = 1; whole < 4; seen++) {
        const { body, payload } = await raw.expectFrame(Descriptor.transfer);
        const parts = bodies.get(body.deliveryId!) ?? [];
        bodies.set(body.deliveryId!, parts);
        parts.push(payload);
        if (!body.more) whole++;
        if (seen % 5 === 0) raw.flow({ nextIncomingId: (nextOutgoingId + seen) >>> 0, incomingWindow: 5 });
      }
      const texts = [...bodies.values()].map((parts) => read(Buffer.concat(parts)).text);
      const seen = texts.map((text) => `${text.length} ${[...new Set(text)].join('')}`);
      assert.deepEqual(seen.sort(), [`${sizes[1]} s`, `${sizes[1]} t`, `${sizes[1]} u`, `${sizes[0]} l`]);
    },
    { maxFrameSize: 8192 },
  ),
];

/** Addresses for which there is no link: the condition of the detach. */
const refused: readonly [what: string, address: string, condition: string][] = [
  ['a queue that is not there', '/queues/no-such', 'amqp:not-found'],
  ['a name that is not there', 'no-such', 'amqp:not-found'],
  ['no address', '', 'amqp:invalid-field'],
  ['a path that means nothing', '/nothing/x', 'amqp:invalid-field'],
  ['a queue of no name', '/queues/', 'amqp:invalid-field'],
  ['a queue with a slash that is not encoded', '/queues/a/b', 'amqp:invalid-field'],
  ['encoding that is none', '/queues/%zz', 'amqp:invalid-field'],
  ['a queue with a name of 256 bytes', `/queues/${'x'.repeat(256)}`, 'amqp:invalid-field'],
];

export const links10: readonly Case[] = [
  sessionRule(
    'AMQP 1.0 §2.6.3',
    'attach is answered with attach, for the other role, and credit follows',
    async (raw, client) => {
      const queue = await client.queue();
      raw.attachSender(`/queues/${queue}`, { name: 'mine', handle: 5 });
      const attach = await raw.expect(Descriptor.attach);
      assert.deepEqual([attach.name, attach.role], ['mine', true]);
      assert.equal((attach.target as Target).address, `/queues/${queue}`);
      assert.ok(attach.maxMessageSize! > 0);
      const flow = await raw.expect(Descriptor.flow);
      assert.equal(flow.handle, attach.handle);
      assert.ok(flow.linkCredit! > 0);
    },
  ),
  sessionRule('AMQP 1.0 §2.6.3', 'for a client that receives it says where its count begins', async (raw, client) => {
    const attach = await raw.receiver(`/queues/${await client.queue()}`, 0);
    assert.equal(attach.role, false);
    assert.equal(attach.initialDeliveryCount, 0);
    assert.ok(attach.source?.outcomes?.includes('amqp:accepted:list'));
  }),
  // A link to no address is one whose messages have addresses.
  ...refused
    .filter(([, address]) => address !== '')
    .map(([what, address, condition]) =>
      sessionRule(
        'AMQP 1.0 §2.6.3',
        `a link to ${what} is attached without target, and detached with ${condition}`,
        async (raw) => {
          raw.attachSender(address);
          assert.equal((await raw.expect(Descriptor.attach)).target, undefined);
          await detaches(raw, condition);
        },
      ),
    ),
  ...refused.map(([what, address, condition]) =>
    sessionRule(
      'AMQP 1.0 §2.6.3',
      `a link from ${what} is attached without source, and detached with ${condition}`,
      async (raw) => {
        raw.attachReceiver(address);
        assert.equal((await raw.expect(Descriptor.attach)).source, undefined);
        await detaches(raw, condition);
      },
    ),
  ),
  sessionRule(
    'AMQP 1.0 §3.5.3',
    'a source that is to be made has an address, and goes with its link',
    async (raw, client) => {
      raw.attachReceiver('', { source: Object.assign(new Source(), { dynamic: true }) });
      const { source } = await raw.expect(Descriptor.attach);
      const address = textOf(source!.address)!;
      const queue = decodeURIComponent(address.slice('/queues/'.length));
      raw.flow({ handle: 0, deliveryCount: 0, linkCredit: 1 });
      await client.publish('', queue, 'answer');
      assert.equal((await delivery(raw)).text, 'answer');
      raw.send(0, detach(0));
      await raw.expect(Descriptor.detach);
      await client.until('it is gone', async () => !(await client.hasQueue(queue)));
    },
  ),
  sessionRule('AMQP 1.0 §3.5.4', 'a target that is to be made has an address', async (raw) => {
    raw.attachSender(undefined, { target: Object.assign(new Target(), { dynamic: true }) });
    const { target } = await raw.expect(Descriptor.attach);
    await raw.expect(Descriptor.flow);
    await raw.receiver(String((target as Target).address), 1, { handle: 1 });
    raw.transfer(message('x'), { settled: true });
    assert.equal((await delivery(raw)).text, 'x');
  }),
  sessionRule('addresses', 'from an exchange come the messages that it gets from then on', async (raw, client) => {
    const topics = await client.exchange('topic');
    const fanout = await client.exchange('fanout');
    await raw.receiver(`/exchanges/${topics}/a.*`, 9, { handle: 0 });
    await raw.receiver(topics, 9, { handle: 1 });
    await raw.receiver(fanout, 9, { handle: 2 });
    await client.publish(topics, 'a.b', 'both');
    assert.deepEqual([(await delivery(raw)).text, (await delivery(raw)).text], ['both', 'both']);
    await client.publish(topics, 'b.b', 'one');
    assert.equal((await delivery(raw)).text, 'one');
    await client.publish(fanout, '', 'all');
    assert.equal((await delivery(raw)).text, 'all');
    await raw.works();
    assert.ok(raw.isQuiet);
  }),
  sessionRule(
    'AMQP 1.0 §2.6.6',
    'detach is answered with detach, and the handle can be used again',
    async (raw, client) => {
      const queue = await client.queue();
      for (let i = 0; i < 3; i++) {
        await raw.sender(`/queues/${queue}`, { handle: 4 });
        raw.send(0, detach(4));
        const answer = await raw.expect(Descriptor.detach);
        assert.deepEqual([answer.closed, answer.error], [true, undefined]);
      }
    },
  ),
  sessionRule(
    'AMQP 1.0 §2.6.6',
    'a handle whose link the broker has detached is free when the client has detached it too',
    async (raw, client) => {
      raw.attachSender('/queues/no-such', { handle: 4 });
      await raw.expect(Descriptor.attach);
      await detaches(raw, 'amqp:not-found');
      raw.send(0, detach(4));
      await raw.sender(`/queues/${await client.queue()}`, { handle: 4 });
    },
  ),
  sessionRule('AMQP 1.0 §2.6.1', 'a link that is attached again is taken from whoever had it', async (raw, client) => {
    const queue = await client.queue();
    await raw.begin(1);
    await raw.sender(`/queues/${queue}`, { name: 'one' });
    raw.attachSender(`/queues/${queue}`, { name: 'one' }, 1);
    const stolen = await raw.expect(Descriptor.detach);
    assert.equal(stolen.error?.condition, 'amqp:link:stolen');
    await raw.expect(Descriptor.attach);
  }),
  sessionRule('AMQP 1.0 §2.6.1', 'the two directions have names of their own', async (raw, client) => {
    const queue = await client.queue();
    await raw.sender(`/queues/${queue}`, { name: 'one', handle: 0 });
    await raw.receiver(`/queues/${queue}`, 1, { name: 'one', handle: 1 });
    raw.transfer(message('x'));
    const seen = new Set([(await raw.next()).body!.descriptor, (await raw.next()).body!.descriptor]);
    assert.deepEqual(seen, new Set([Descriptor.transfer, Descriptor.disposition]));
  }),
  sessionRule(
    'AMQP 1.0 §2.7.3',
    'an attach is decoded in every form that its descriptor may have',
    async (raw, client) => {
      const queue = await client.queue();
      raw.sendBody(0, `00 a3 10 ${Buffer.from('amqp:attach:list').toString('hex')} c0 06 03 a1 01 61 43 42`);
      // Neither source nor target.
      await raw.expect(Descriptor.attach);
      await detaches(raw, 'amqp:not-implemented');
      await raw.sender(`/queues/${queue}`, { handle: 1 });
    },
  ),
  sessionRule('AMQP 1.0 §2.6.12', 'a queue that is deleted detaches its receivers', async (raw, client) => {
    const queue = await client.queue();
    await raw.receiver(`/queues/${queue}`, 1);
    await client.channel.deleteQueue(queue);
    await detaches(raw, 'amqp:resource-deleted');
  }),
  sessionRule(
    'AMQP 1.0 §2.6.12',
    'what a receiver has not settled goes back, flagged, when it detaches',
    async (raw, client) => {
      const queue = await client.queue();
      await client.send(queue, 'a', 'b');
      await raw.receiver(`/queues/${queue}`, 2);
      const first = await delivery(raw);
      assert.deepEqual([first.text, first.redelivered], ['a', false]);
      await delivery(raw);
      raw.settle(first.id, accepted);
      raw.send(0, detach(0));
      await raw.expect(Descriptor.detach);
      const again = await client.soon(queue);
      assert.deepEqual([again.content.toString(), again.fields.redelivered], ['b', true]);
    },
  ),
  sessionRule(
    'AMQP 1.0 §2.6.6',
    'a link that ends takes the rest of its delivery with it, and the others of its session go on',
    async (raw, client) => {
      const [large, small] = [await client.queue(), await client.queue()];
      await client.send(large, 'l'.repeat(300_000));
      await client.send(small, 's');
      raw.send(0, new End());
      await raw.expect(Descriptor.end);
      const { nextOutgoingId } = await raw.begin(0, { incomingWindow: 10 });
      await raw.receiver(`/queues/${large}`, 0);
      const flow = { handle: 0, deliveryCount: 0, linkCredit: 1, incomingWindow: 10 };
      raw.flow({ ...flow, nextIncomingId: nextOutgoingId });
      for (let i = 0; i < 10; i++) assert.equal((await raw.expect(Descriptor.transfer)).more, true);
      raw.send(0, detach(0));
      await raw.expect(Descriptor.detach);
      await raw.receiver(`/queues/${small}`, 0);
      raw.flow({ ...flow, nextIncomingId: (nextOutgoingId + 10) >>> 0 });
      const next = await delivery(raw);
      assert.deepEqual([next.text, next.frames], ['s', 1]);
      const again = await client.soon(large);
      assert.deepEqual([again.content.length, again.fields.redelivered], [300_000, true]);
    },
    { maxFrameSize: 512 },
  ),
  sessionRule('AMQP 1.0 §2.5.2', 'the same when the session ends', async (raw, client) => {
    const queue = await client.queue();
    await client.send(queue, 'a');
    await raw.receiver(`/queues/${queue}`, 2);
    await delivery(raw);
    raw.send(0, new End());
    await raw.expect(Descriptor.end);
    assert.equal((await client.soon(queue)).fields.redelivered, true);
  }),
  sessionRule('AMQP 1.0 §2.4.6', 'the same when the socket is gone', async (raw, client) => {
    const queue = await client.queue();
    await client.send(queue, 'a');
    await raw.receiver(`/queues/${queue}`, 2);
    await delivery(raw);
    raw.end();
    assert.equal((await client.soon(queue)).fields.redelivered, true);
  }),
];

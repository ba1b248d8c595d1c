/** What outlives a link: subscriptions to exchanges (§3.5.5, §3.5.6), and nodes that were made for it (§3.5.10 to §3.5.13). */
import assert from 'node:assert/strict';
import {
  type Attach,
  Descriptor,
  descriptorName,
  Described,
  Detach,
  fieldMap,
  MapValue,
  Open,
  Scalar,
  Source,
  Target,
  textOf,
} from '../../../src/amqp10/codec/index.js';
import { setTimeout as pause } from 'node:timers/promises';
import { RawClient10 } from '../../support/raw-client10.js';
import type { Case } from '../case.js';
import type { Client } from '../client.js';
import { detaches, dialRule, sessionRule } from '../case10.js';
import { accepted, delivery, message } from '../messages10.js';
import { filter } from './filters.js';

const durable = { durable: 2, expiryPolicy: 'never', distributionMode: 'copy', capabilities: ['topic'] } as const;

function source(address: string, fields: object = durable): Source {
  return Object.assign(new Source(), { address }, fields);
}

async function detach(raw: RawClient10, handle: number, closed: boolean): Promise<void> {
  raw.send(0, Object.assign(new Detach(), { handle, closed }));
  const answer = await raw.expect(Descriptor.detach);
  assert.deepEqual([answer.closed, answer.error], [closed, undefined]);
}

async function text(raw: RawClient10): Promise<string> {
  const got = await delivery(raw);
  raw.settle(got.id, accepted);
  return got.text;
}

/** A link by name to a subscription. */
async function subscribe(raw: RawClient10, name: string, from: Source | undefined, credit = 10): Promise<Attach> {
  return raw.receiver('', credit, { name, source: from as Source });
}

/** A name that no other case has. */
function uniqueName(client: Client): string {
  return client.session.name();
}

const rule = 'AMQP 1.0 §3.5.6';

export const subscriptions10: readonly Case[] = [
  sessionRule(rule, 'a subscription gets messages while its link is detached', async (raw, client) => {
    const exchange = await client.exchange('topic');
    const name = uniqueName(client);
    const attach = await subscribe(raw, name, source(exchange));
    assert.deepEqual([attach.source!.durable, attach.source!.expiryPolicy], [2, 'never']);
    await client.publish(exchange, 'a', 'first');
    assert.equal(await text(raw), 'first');
    await detach(raw, 0, false);
    await client.publish(exchange, 'a', 'second');
    await subscribe(raw, name, source(exchange));
    assert.equal(await text(raw), 'second');
    await detach(raw, 0, true);
  }),
  sessionRule(rule, 'it ends when its link is closed', async (raw, client) => {
    const exchange = await client.exchange('topic');
    const name = uniqueName(client);
    await subscribe(raw, name, source(exchange));
    const queue = `durable-subscription/raw/${encodeURIComponent(name)}`;
    assert.ok(await client.hasQueue(queue));
    await detach(raw, 0, true);
    // Whoever asked for it by a link would keep it.
    await client.until('it is gone', async () => !(await client.hasQueue(queue)));
    raw.attachReceiver('', { name, source: undefined as never });
    assert.equal((await raw.expect(Descriptor.attach)).source, undefined);
    await detaches(raw, 'amqp:not-found');
  }),
  sessionRule(
    'JMS over AMQP',
    'a link without a source finds it, and ends it when it is closed',
    async (raw, client) => {
      const exchange = await client.exchange('topic');
      const name = uniqueName(client);
      const by = new MapValue([filter(0x468c_0000_0004n, 'n = 2')]);
      await subscribe(raw, name, source(exchange, { ...durable, filter: by }), 0);
      await detach(raw, 0, false);
      const { source: found } = await subscribe(raw, name, undefined, 0);
      assert.equal(textOf(found!.address), exchange);
      assert.deepEqual([found!.durable, found!.expiryPolicy], [2, 'never']);
      assert.equal((found!.filter!.entries[0]![1] as Described).value, 'n = 2');
      await detach(raw, 0, true);
    },
  ),
  sessionRule('JMS over AMQP', 'a link without a source to no subscription is refused', async (raw, client) => {
    raw.attachReceiver('', { name: uniqueName(client), source: undefined as never });
    assert.equal((await raw.expect(Descriptor.attach)).source, undefined);
    await detaches(raw, 'amqp:not-found');
  }),
  sessionRule(
    rule,
    'it is found again by another connection with the same container-id',
    async (raw, client, session) => {
      const exchange = await client.exchange('topic');
      const name = uniqueName(client);
      await subscribe(raw, name, source(exchange), 0);
      raw.end();
      await client.publish(exchange, 'a', 'x');
      for (const [containerId, finds] of [
        ['another', false],
        ['raw', true],
      ] as const) {
        const other = await RawClient10.open(session.target.port, { containerId }, session.patienceMs);
        await other.begin();
        await subscribe(other, name, source(exchange), 0);
        other.flow({ handle: 0, deliveryCount: 0, linkCredit: 1, drain: true });
        if (finds) assert.equal(await text(other), 'x');
        const flow = await other.expect(Descriptor.flow);
        assert.equal(flow.linkCredit, 0);
        await detach(other, 0, true);
        other.end();
      }
    },
  ),
  sessionRule('JMS 2.0 §8.3.3', 'another source or selector by the same name begins anew', async (raw, client) => {
    const [one, two] = [await client.exchange('topic'), await client.exchange('topic')];
    const name = uniqueName(client);
    await subscribe(raw, name, source(one), 0);
    await detach(raw, 0, false);
    await client.publish(one, 'a', 'lost');
    await subscribe(raw, name, source(two));
    await client.publish(one, 'a', 'not wanted');
    await client.publish(two, 'a', 'x');
    assert.equal(await text(raw), 'x');
    await detach(raw, 0, true);
  }),
  sessionRule('JMS 2.0 §8.3.3', 'but not while it is in use', async (raw, client) => {
    const exchange = await client.exchange('topic');
    const name = uniqueName(client);
    await subscribe(raw, name, source(exchange, { ...durable, capabilities: ['shared'] }));
    const by = new MapValue([filter(0x468c_0000_0004n, 'n = 2')]);
    const other = source(exchange, { ...durable, capabilities: ['shared'], filter: by });
    raw.attachReceiver('', { name: `${name}|2`, handle: 1, source: other });
    await raw.expect(Descriptor.attach);
    await detaches(raw, 'amqp:resource-locked', /in use/);
    await detach(raw, 0, true);
  }),
  dialRule('JMS over AMQP', 'the broker says in its open that it has shared subscriptions', async (raw) => {
    await raw.logIn();
    raw.send(0, Object.assign(new Open(), { containerId: 'x' }));
    assert.ok((await raw.expect(Descriptor.open)).offeredCapabilities?.includes('SHARED-SUBS'));
  }),
  sessionRule('capability shared', 'links of a shared subscription divide its messages', async (raw, client) => {
    const exchange = await client.exchange('topic');
    const name = uniqueName(client);
    const shared = source(exchange, { ...durable, capabilities: ['shared'] });
    await raw.receiver('', 1, { name, handle: 0, source: shared });
    await raw.receiver('', 1, { name: `${name}|2`, handle: 1, source: shared });
    await client.publish(exchange, 'a', 'x');
    await client.publish(exchange, 'a', 'y');
    assert.deepEqual([await text(raw), await text(raw)].sort(), ['x', 'y']);
    await raw.works();
    assert.ok(raw.isQuiet);
    await detach(raw, 0, true);
    await detach(raw, 1, true);
  }),
  sessionRule('AMQP 1.0 §3.5.3', 'it goes when its timeout is over', async (raw, client) => {
    const exchange = await client.exchange('topic');
    const name = uniqueName(client);
    await subscribe(raw, name, source(exchange, { durable: 1, expiryPolicy: 'link-detach', timeout: 1 }), 0);
    await detach(raw, 0, false);
    raw.attachReceiver('', { name, source: undefined as never });
    const { source: found } = await raw.expect(Descriptor.attach);
    assert.deepEqual([found?.timeout, found?.expiryPolicy, found?.durable], [1, 'link-detach', 1]);
    await detach(raw, 0, false);
    // Whoever asks for it uses it.
    await new Promise((resolve) => setTimeout(resolve, 1600));
    raw.attachReceiver('', { name, source: undefined as never });
    assert.equal((await raw.expect(Descriptor.attach)).source, undefined);
    await detaches(raw, 'amqp:not-found');
  }),
  sessionRule('AMQP 1.0 §3.5.10', 'a node that is made says what it lives for: its link, by default', async (raw) => {
    raw.attachReceiver('', { source: Object.assign(new Source(), { dynamic: true }) });
    const { source: made } = await raw.expect(Descriptor.attach);
    const policy = made!.dynamicNodeProperties!.get('lifetime-policy') as Described;
    assert.deepEqual(policy, new Described(new Scalar('ulong', BigInt(Descriptor.deleteOnClose)), []));
  }),
  ...(
    [
      [Descriptor.deleteOnNoLinks, '3.5.11', false],
      [Descriptor.deleteOnNoMessages, '3.5.12', true],
      [Descriptor.deleteOnNoLinksOrMessages, '3.5.13', true],
    ] as const
  ).map(([code, section, awaitsMessages]) =>
    sessionRule(
      `AMQP 1.0 §${section}`,
      `a node that is made outlives its link as ${descriptorName(code)} says`,
      async (raw, client) => {
        const asked = new Described(new Scalar('ulong', BigInt(code)), []);
        const target = Object.assign(new Target(), {
          dynamic: true,
          dynamicNodeProperties: fieldMap({ 'lifetime-policy': asked }),
        });
        raw.attachSender(undefined, { target });
        const made = (await raw.expect(Descriptor.attach)).target as Target;
        await raw.expect(Descriptor.flow);
        assert.deepEqual(made.dynamicNodeProperties!.get('lifetime-policy'), asked);
        const queue = decodeURIComponent(textOf(made.address)!.slice('/queues/'.length));
        // Another connection uses it.
        const other = await client.consumer(queue);
        raw.transfer(message('x'));
        await raw.expect(Descriptor.disposition);
        const got = await other.next();
        await detach(raw, 0, true);
        assert.ok(await client.hasQueue(queue));
        if (awaitsMessages) other.channel.ack(got);
        else await other.channel.cancel(other.tag);
        if (code === Descriptor.deleteOnNoLinksOrMessages) await other.channel.cancel(other.tag);
        await client.until('it is gone', async () => !(await client.hasQueue(queue)));
      },
    ),
  ),
  sessionRule(rule, 'a queue that only looks like a subscription is none', async (raw, client) => {
    const kept = { address: 'x', durable: 2, expiryPolicy: 'never', timeout: 0, capabilities: [] };
    const forgeries: unknown[] = ['no JSON', 'null', '{}', { ...kept, address: 5 }, { ...kept, capabilities: 3 }];
    for (const one of ['a = ', 5]) forgeries.push({ ...kept, filter: { selector: one } });
    for (const one of [5, '#.'.repeat(500)]) forgeries.push({ ...kept, filter: { topic: one } });
    for (const [handle, forged] of forgeries.entries()) {
      const name = uniqueName(client);
      const text = typeof forged === 'string' ? forged : JSON.stringify(forged);
      const queue = `durable-subscription/raw/${name}`;
      await client.channel.assertQueue(queue, { arguments: { 'x-amqp10-source': text } });
      raw.attachReceiver('', { name, handle, source: undefined as never });
      await raw.expect(Descriptor.attach);
      await detaches(raw, 'amqp:precondition-failed', /no subscription/);
      await client.channel.deleteQueue(queue);
    }
  }),
  sessionRule(rule, 'one whose only client goes while it attaches goes, too', async (raw, client) => {
    const containers = [0, 1, 2, 4].map((ms) => [uniqueName(client), ms] as const);
    for (const [containerId, ms] of containers) {
      const other = await RawClient10.open(client.session.target.port, { containerId });
      await other.begin();
      other.attachReceiver('', { name: 's', source: source('amq.topic', { capabilities: ['topic', 'shared'] }) });
      await pause(ms);
      other.socket.resetAndDestroy();
    }
    // What was asked for is done by then, whether or not anybody waits for it.
    await pause(150);
    await raw.works();
    const queues = containers.map(([name]) => `volatile-subscription/${name}/s`);
    const deadline = performance.now() + 5000;
    for (let left = queues; left.length > 0; ) {
      const there = await Promise.all(left.map((queue) => client.hasQueue(queue)));
      left = left.filter((_, i) => there[i]);
      assert.ok(performance.now() < deadline, `${left.join()} stay`);
      await pause(10);
    }
  }),
];

/** Links that are resumed: by another connection, with what was unsettled. */
import assert from 'node:assert/strict';
import {
  type Attach,
  Descriptor,
  Described,
  Detach,
  Disposition,
  integerOf,
  MapValue,
  Scalar,
  Source,
  Target,
  type Value,
} from '../../../src/amqp10/codec/index.js';
import { RawClient10 } from '../../support/raw-client10.js';
import type { Case } from '../case.js';
import { accepted, delivery, message } from '../messages10.js';
import type { Client } from '../client.js';
import type { Session } from '../session.js';

/** §2.8.3 */
const settleSecond = 1;

interface World {
  readonly session: Session;
  readonly client: Client;
  readonly queue: string;
  /** A connection of the container, with a session on channel 0. */
  connect(container?: string, frameMax?: number): Promise<RawClient10>;
}

export function resumeRule(source: string, title: string, body: (world: World) => Promise<void>): Case {
  return {
    title: `1.0: ${title}`,
    source: `AMQP 1.0 ${source}`,
    onlyOurs: true,
    async run(session) {
      const open: RawClient10[] = [];
      const client = await session.client();
      const queue = await client.queue();
      const connect = async (containerId = queue, maxFrameSize = 65_536): Promise<RawClient10> => {
        const raw = await RawClient10.open(session.target.port, { containerId, maxFrameSize }, session.patienceMs);
        open.push(raw);
        await raw.begin();
        return raw;
      };
      try {
        await body({ session, client, queue, connect });
      } finally {
        for (const raw of open) raw.end();
      }
    },
  };
}

export function mapOf(entries: readonly (readonly [Uint8Array, Value])[]): MapValue {
  return new MapValue(entries.map(([tag, state]) => [tag, state]));
}

export function tagsOf(attach: Attach): string[] {
  return (attach.unsettled?.entries ?? []).map(([tag]) => Buffer.from(tag as Uint8Array).toString('latin1'));
}

export async function sender(
  raw: RawClient10,
  queue: string,
  fields: Partial<Attach> = {},
  seconds = 60,
): Promise<Attach> {
  const target = Object.assign(new Target(), { address: `/queues/${queue}`, timeout: seconds });
  raw.attachSender(undefined, { name: 'resumed', rcvSettleMode: settleSecond, target, ...fields });
  return raw.expect(Descriptor.attach);
}

export async function receiver(
  raw: RawClient10,
  queue: string,
  fields: Partial<Attach> = {},
  seconds = 60,
): Promise<Attach> {
  const source = Object.assign(new Source(), { address: `/queues/${queue}`, timeout: seconds });
  raw.attachReceiver('', { name: 'resumed', rcvSettleMode: settleSecond, source, ...fields });
  return raw.expect(Descriptor.attach);
}

function grant(raw: RawClient10, linkCredit: number): void {
  raw.flow({ handle: 0, deliveryCount: 0, linkCredit });
}

/** The broker knows that the connection is gone. */
export async function drop(raw: RawClient10): Promise<void> {
  raw.socket.destroy();
  await raw.closed;
}

const acceptedState: Value = new Described(new Scalar('ulong', 0x24n), []);

/** The next delivery with its tag. */
export async function tagged(
  raw: RawClient10,
): Promise<{ tag: Buffer; resume: boolean; more: boolean; id: number; payload: Buffer }> {
  const { body, payload } = await raw.expectFrame(Descriptor.transfer);
  const tag = Buffer.from(body.deliveryTag!);
  return { tag, resume: body.resume === true, more: body.more === true, id: body.deliveryId!, payload };
}

async function waitForMessages(client: Client, queue: string, count: number): Promise<void> {
  for (let i = 0; (await client.channel.checkQueue(queue)).messageCount !== count; i++) {
    assert.ok(i < 500, `queue '${queue}' has no ${count} messages`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** `tag-a` is sent, and accepted; then the connection is lost. */
async function sendAndBreakOff(connect: World['connect'], queue: string): Promise<void> {
  const raw = await connect();
  await sender(raw, queue);
  await raw.expect(Descriptor.flow);
  raw.transfer(message('a'), { deliveryTag: Buffer.from('tag-a') });
  await raw.expect(Descriptor.disposition);
  await drop(raw);
}

export const resumption10: readonly Case[] = [
  resumeRule('§2.6.13', 'a sender that resumes learns which of its deliveries were accepted', async (world) => {
    const { queue, connect, client } = world;
    const first = await connect();
    const answer = await sender(first, queue);
    assert.equal(answer.rcvSettleMode, settleSecond);
    const { timeout, expiryPolicy } = answer.target as Target;
    assert.deepEqual([timeout, expiryPolicy], [60, 'link-detach']);
    await first.expect(Descriptor.flow);
    first.transfer(message('a'), { deliveryTag: Buffer.from('tag-a') });
    const told = await first.expect(Descriptor.disposition);
    assert.deepEqual([told.settled, told.state?.descriptor], [false, Descriptor.accepted]);
    await drop(first);
    const second = await connect();
    const known = mapOf([
      [Buffer.from('tag-a'), null],
      [Buffer.from('tag-b'), null],
    ]);
    const resumed = await sender(second, queue, { unsettled: known });
    assert.deepEqual(tagsOf(resumed), ['tag-a']);
    const state = resumed.unsettled!.entries[0]![1] as Described;
    assert.equal(integerOf(state.descriptor), Descriptor.accepted);
    await second.expect(Descriptor.flow);
    second.transfer(message('b'), { deliveryTag: Buffer.from('tag-b') });
    await second.expect(Descriptor.disposition);
    assert.equal((await client.channel.checkQueue(queue)).messageCount, 2);
  }),
  resumeRule('§2.6.13', 'a delivery that its sender resumes is not taken twice', async ({ queue, connect, client }) => {
    await sendAndBreakOff(connect, queue);
    const second = await connect();
    const known = mapOf([[Buffer.from('tag-a'), null]]);
    assert.deepEqual(tagsOf(await sender(second, queue, { unsettled: known })), ['tag-a']);
    await second.expect(Descriptor.flow);
    const id = second.transfer(message('a'), { deliveryTag: Buffer.from('tag-a'), resume: true });
    const told = await second.expect(Descriptor.disposition);
    assert.deepEqual([told.first, told.settled, told.state?.descriptor], [id, false, Descriptor.accepted]);
    assert.equal((await client.channel.checkQueue(queue)).messageCount, 1);
  }),
  resumeRule('§2.7.5', 'a resumed delivery that is not known is ignored', async ({ queue, connect, client }) => {
    const raw = await connect();
    await sender(raw, queue);
    await raw.expect(Descriptor.flow);
    raw.transfer(message('a'), { deliveryTag: Buffer.from('tag-a'), resume: true });
    await raw.works();
    assert.equal((await client.channel.checkQueue(queue)).messageCount, 0);
  }),
  resumeRule('§3.4.3', 'a message that a queue refuses is rejected, and not there after resumption', async (world) => {
    const { connect, client } = world;
    const queue = await client.queue({ 'x-max-length': 1, 'x-overflow': 'reject-publish' });
    const first = await connect();
    await sender(first, queue);
    await first.expect(Descriptor.flow);
    first.transfer(message('a'), { deliveryTag: Buffer.from('tag-a') });
    assert.equal((await first.expect(Descriptor.disposition)).state?.descriptor, Descriptor.accepted);
    first.transfer(message('b'), { deliveryTag: Buffer.from('tag-b') });
    assert.equal((await first.expect(Descriptor.disposition)).state?.descriptor, Descriptor.rejected);
    await drop(first);
    const second = await connect();
    const known = mapOf([
      [Buffer.from('tag-a'), null],
      [Buffer.from('tag-b'), null],
    ]);
    assert.deepEqual(tagsOf(await sender(second, queue, { unsettled: known })), ['tag-a']);
  }),
  resumeRule('§2.8.2', 'a queue that is deleted ends links that could be resumed', async (world) => {
    const { queue, connect, client } = world;
    const raw = await connect();
    await receiver(raw, queue);
    await client.channel.deleteQueue(queue);
    const detach = await raw.expect(Descriptor.detach);
    assert.deepEqual([detach.error?.condition, detach.closed], ['amqp:resource-deleted', true]);
  }),
  resumeRule('§2.6.12', 'what the sender has settled is forgotten', async ({ queue, connect }) => {
    const first = await connect();
    await sender(first, queue);
    await first.expect(Descriptor.flow);
    const id = first.transfer(message('a'), { deliveryTag: Buffer.from('tag-a') });
    await first.expect(Descriptor.disposition);
    first.send(0, Object.assign(new Disposition(), { role: false, first: id, settled: true }));
    first.transfer(message('b'), { deliveryTag: Buffer.from('tag-b') });
    await first.expect(Descriptor.disposition);
    await drop(first);
    const second = await connect();
    const known = mapOf([
      [Buffer.from('tag-a'), null],
      [Buffer.from('tag-b'), null],
    ]);
    assert.deepEqual(tagsOf(await sender(second, queue, { unsettled: known })), ['tag-b']);
  }),
  resumeRule('§2.6.13', 'what a sender does not name any more is settled', async ({ queue, connect }) => {
    await sendAndBreakOff(connect, queue);
    const second = await connect();
    assert.deepEqual(tagsOf(await sender(second, queue)), []);
    await drop(second);
    const third = await connect();
    const known = mapOf([[Buffer.from('tag-a'), null]]);
    assert.deepEqual(tagsOf(await sender(third, queue, { unsettled: known })), []);
  }),
  resumeRule('§2.7.3', 'with an incomplete map nothing is forgotten, and no credit is given', async (world) => {
    const { queue, connect } = world;
    await sendAndBreakOff(connect, queue);
    const second = await connect();
    const other = mapOf([[Buffer.from('tag-b'), null]]);
    await sender(second, queue, { unsettled: other, incompleteUnsettled: true });
    await second.works();
    assert.ok(second.isQuiet);
    await drop(second);
    const third = await connect();
    const known = mapOf([[Buffer.from('tag-a'), null]]);
    assert.deepEqual(tagsOf(await sender(third, queue, { unsettled: known })), ['tag-a']);
    await third.expect(Descriptor.flow);
  }),
  resumeRule('§2.7.3', 'a map that fits into no frame of the client comes piece by piece', async (world) => {
    const { queue, connect, client } = world;
    const first = await connect();
    await sender(first, queue);
    await first.expect(Descriptor.flow);
    const left = new Set(Array.from({ length: 40 }, (_, i) => `delivery-${i}`));
    for (const tag of left) first.transfer(message('a'), { deliveryTag: Buffer.from(tag) });
    await waitForMessages(client, queue, left.size);
    await drop(first);
    const second = await connect(queue, 512);
    let pieces = 0;
    for (let isWhole = false; !isWhole; pieces++) {
      const known = mapOf([...left].map((tag) => [Buffer.from(tag), null] as const));
      const answer = await sender(second, queue, { unsettled: known });
      const tags = tagsOf(answer);
      assert.ok(tags.length > 0);
      for (const tag of tags) assert.ok(left.delete(tag), tag);
      isWhole = !answer.incompleteUnsettled;
      if (isWhole) await second.expect(Descriptor.flow);
      second.send(0, Object.assign(new Detach(), { handle: 0 }));
      assert.equal((await second.expect(Descriptor.detach)).closed, false);
    }
    assert.ok(pieces > 1);
    assert.equal(left.size, 0);
  }),
  ...(['the connection is lost', 'it is detached'] as const).map((what) =>
    resumeRule('§2.6.3', `nothing is forgotten of a link if ${what} before its attach is answered`, async (world) => {
      const { queue, connect } = world;
      const first = await connect();
      await sender(first, queue);
      await first.expect(Descriptor.flow);
      first.transfer(message('a'), { deliveryTag: Buffer.from('tag-a') });
      await first.expect(Descriptor.disposition);
      await drop(first);
      const unsettled = mapOf([[Buffer.from('tag-a'), null]]);
      for (let i = 0; i < 3; i++) {
        const second = await connect();
        const target = Object.assign(new Target(), { address: `/queues/${queue}`, timeout: 60 });
        second.attachSender(undefined, { name: 'resumed', rcvSettleMode: settleSecond, target, unsettled });
        if (what === 'it is detached') {
          second.send(0, Object.assign(new Detach(), { handle: 0 }));
          await second.expect(Descriptor.attach);
          assert.equal((await second.expect(Descriptor.detach)).closed, false);
        }
        await drop(second);
      }
      const third = await connect();
      assert.deepEqual(tagsOf(await sender(third, queue, { unsettled })), ['tag-a']);
    }),
  ),
  resumeRule(
    '§2.6.3',
    'links of different containers have nothing to do with each other',
    async ({ queue, connect }) => {
      const first = await connect('one');
      await sender(first, queue);
      await first.expect(Descriptor.flow);
      first.transfer(message('a'), { deliveryTag: Buffer.from('tag-a') });
      await first.expect(Descriptor.disposition);
      const second = await connect('two');
      const known = mapOf([[Buffer.from('tag-a'), null]]);
      assert.deepEqual(tagsOf(await sender(second, queue, { unsettled: known })), []);
    },
  ),
  resumeRule(
    '§2.6.1',
    'a link that is resumed elsewhere is stolen from who had it',
    async ({ queue, connect, client }) => {
      const first = await connect();
      await sender(first, queue);
      await first.expect(Descriptor.flow);
      const second = await connect();
      await sender(second, queue);
      await second.expect(Descriptor.flow);
      first.transfer(message('a'), { deliveryTag: Buffer.from('tag-a') });
      const detach = await first.expect(Descriptor.detach);
      assert.deepEqual([detach.error?.condition, detach.closed], ['amqp:link:stolen', false]);
      assert.equal((await client.channel.checkQueue(queue)).messageCount, 0);
    },
  ),
  resumeRule('§2.6.5', 'a link that is closed is forgotten with all that is unsettled', async ({ queue, connect }) => {
    const first = await connect();
    await sender(first, queue);
    await first.expect(Descriptor.flow);
    first.transfer(message('a'), { deliveryTag: Buffer.from('tag-a') });
    await first.expect(Descriptor.disposition);
    first.send(0, Object.assign(new Detach(), { handle: 0, closed: true }));
    assert.equal((await first.expect(Descriptor.detach)).closed, true);
    const known = mapOf([[Buffer.from('tag-a'), null]]);
    assert.deepEqual(tagsOf(await sender(first, queue, { unsettled: known })), []);
  }),
  resumeRule('§3.5.3', 'a target that is no queue is answered with no timeout', async ({ queue, connect }) => {
    const raw = await connect();
    const target = Object.assign(new Target(), { address: '/exchanges/amq.fanout', timeout: 60 });
    const answer = await sender(raw, queue, { target });
    assert.deepEqual([(answer.target as Target).timeout, (answer.target as Target).expiryPolicy], [0, 'link-detach']);
  }),
  resumeRule('§2.6.12', 'a receiver that settles second is told when its outcome is safe', async (world) => {
    const { queue, connect, client } = world;
    client.channel.sendToQueue(queue, Buffer.from('a'));
    const raw = await connect();
    await receiver(raw, queue);
    grant(raw, 10);
    const { id } = await delivery(raw);
    raw.settle(id, accepted, { settled: false });
    const told = await raw.expect(Descriptor.disposition);
    assert.deepEqual([told.role, told.first, told.settled], [false, id, true]);
    await waitForMessages(client, queue, 0);
  }),
  resumeRule('§2.6.13', 'what a receiver holds is left to it, and resumed with the same tag', async (world) => {
    const { queue, connect, client } = world;
    client.channel.sendToQueue(queue, Buffer.from('a'));
    const first = await connect();
    await receiver(first, queue);
    grant(first, 10);
    const before = await tagged(first);
    assert.equal(before.resume, false);
    await drop(first);
    const second = await connect();
    // Nobody else is given it.
    const other = await second.receiver(`/queues/${queue}`, 10, { handle: 1 });
    assert.equal(other.unsettled, undefined);
    const answer = await receiver(second, queue, { unsettled: mapOf([[before.tag, null]]) });
    assert.deepEqual(tagsOf(answer), [before.tag.toString('latin1')]);
    grant(second, 10);
    const after = await tagged(second);
    assert.deepEqual([after.resume, after.tag], [true, before.tag]);
    assert.ok(after.payload.includes('a'));
    second.settle(after.id, accepted, { settled: false });
    assert.equal((await second.expect(Descriptor.disposition)).settled, true);
    assert.equal((await client.channel.checkQueue(queue)).messageCount, 0);
  }),
  resumeRule('§2.6.14', 'a delivery in several frames is resumed whole', async ({ queue, connect, client }) => {
    const text = 'x'.repeat(5000);
    client.channel.sendToQueue(queue, Buffer.from(text));
    const first = await connect(queue, 512);
    await receiver(first, queue);
    grant(first, 10);
    const { tag, more } = await tagged(first);
    assert.equal(more, true);
    await drop(first);
    const second = await connect(queue, 512);
    await receiver(second, queue, { unsettled: mapOf([[tag, null]]) });
    grant(second, 10);
    const whole = await delivery(second);
    assert.equal(whole.text, text);
    assert.ok(whole.frames > 5);
  }),
  resumeRule('§2.6.13', 'a receiver that resumes settles what it held', async ({ queue, connect, client }) => {
    client.channel.sendToQueue(queue, Buffer.from('a'));
    const first = await connect();
    await receiver(first, queue);
    grant(first, 10);
    const { tag } = await tagged(first);
    await drop(first);
    const second = await connect();
    const answer = await receiver(second, queue, { unsettled: mapOf([[tag, acceptedState]]) });
    assert.deepEqual(tagsOf(answer), []);
    grant(second, 10);
    await second.works();
    assert.ok(second.isQuiet);
  }),
  resumeRule('§2.6.13', 'what a receiver does not name is delivered anew', async ({ queue, connect, client }) => {
    client.channel.sendToQueue(queue, Buffer.from('a'));
    const first = await connect();
    await receiver(first, queue);
    grant(first, 10);
    const before = await tagged(first);
    await drop(first);
    const second = await connect();
    assert.deepEqual(tagsOf(await receiver(second, queue)), []);
    grant(second, 10);
    const after = await tagged(second);
    assert.deepEqual([after.resume, after.tag], [false, before.tag]);
  }),
  resumeRule('§3.5.3', 'what a receiver holds goes to others when its timeout is over', async (world) => {
    const { queue, connect, client } = world;
    client.channel.sendToQueue(queue, Buffer.from('a'));
    const first = await connect();
    await receiver(first, queue, {}, 1);
    grant(first, 10);
    await tagged(first);
    await drop(first);
    const second = await connect();
    await second.receiver(`/queues/${queue}`, 10);
    const { redelivered } = await delivery(second);
    assert.equal(redelivered, true);
  }),
  resumeRule(
    '§2.6.5',
    'what a receiver holds goes back when it closes its link',
    async ({ queue, connect, client }) => {
      client.channel.sendToQueue(queue, Buffer.from('a'));
      const raw = await connect();
      await receiver(raw, queue);
      grant(raw, 10);
      await tagged(raw);
      raw.send(0, Object.assign(new Detach(), { handle: 0, closed: true }));
      await raw.expect(Descriptor.detach);
      await raw.receiver(`/queues/${queue}`, 10, { handle: 1 });
      await delivery(raw);
    },
  ),
];

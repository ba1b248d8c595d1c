/** r248: a queue that is in use moves to other nodes when its policy says so, and back. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as amqp from 'amqplib';
import { type ClusterProcesses, sleep } from '../support/cluster-processes.js';
import { withCluster } from '../support/with-cluster.js';
import { finished } from './support/command.js';
import { request } from './support/http.js';

const backlog = 10_000;
/** Ten times what is asked of the product on a machine that does nothing else. */
const pauseMsMax = 1000;

interface Place {
  group: number;
  members: string[];
  online: string[];
  leader: string;
  messages: number;
  moving: string;
}

async function placeOf(cluster: ClusterProcesses, queue: string): Promise<Place> {
  const { body } = await request(new URL(`/api/queues/%2F/${queue}`, cluster.nodes[0]!.httpUrl).href);
  return body as unknown as Place;
}

async function setPolicy(cluster: ClusterProcesses, definition: string): Promise<void> {
  const url = cluster.nodes[2]!.httpUrl.href;
  const { code, stderr } = await finished(['policy', 'set', 'where', '^moving$', definition, '--url', url]);
  assert.equal(code, 0, stderr);
}

/** The queue is on so many nodes, all in sync; resolves to where that is. */
async function untilOn(cluster: ClusterProcesses, nodes: number): Promise<Place> {
  for (const deadline = performance.now() + 30_000; ; await sleep(20)) {
    const place = await placeOf(cluster, 'moving');
    if (place.moving === '' && place.members.length === nodes && place.online.length === nodes) return place;
    assert.ok(performance.now() < deadline, JSON.stringify(place));
  }
}

/** Publishes numbered messages, some at a time, until it is stopped; and keeps the longest time that confirms took. */
class NumberedPublisher {
  sent = 0;
  longestMs = 0;
  private readonly name: string;
  private stopping = false;
  private done: Promise<void> = Promise.resolve();

  constructor(name: string) {
    this.name = name;
  }

  async start(url: string): Promise<void> {
    const connection = await amqp.connect(url);
    const channel = await connection.createConfirmChannel();
    this.done = this.run(channel).finally(() => connection.close());
  }

  private async run(channel: amqp.ConfirmChannel): Promise<void> {
    while (!this.stopping) {
      const began = performance.now();
      for (let i = 0; i < 20; i++)
        channel.sendToQueue('moving', Buffer.from(`${this.name} ${this.sent++}`), { persistent: true });
      await channel.waitForConfirms();
      this.longestMs = Math.max(this.longestMs, performance.now() - began);
      await sleep(2);
    }
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.done;
  }
}

/** Takes what comes, and looks at it: each message once, unflagged, a publisher's in order. */
class NumberedConsumer {
  taken = 0;
  longestMs = 0;
  readonly faults: string[] = [];
  private readonly next = new Map<string, number>();
  private lastAt = performance.now();
  private connection: amqp.ChannelModel | undefined;

  async start(url: string): Promise<void> {
    this.connection = await amqp.connect(url);
    const channel = await this.connection.createChannel();
    await channel.prefetch(100);
    await channel.consume('moving', (message) => {
      if (message === null) return void this.faults.push('the consumer was cancelled');
      this.look(message);
      channel.ack(message);
    });
  }

  async stop(): Promise<void> {
    await this.connection?.close();
  }

  /** Times before now do not count. */
  forgetPause(): void {
    this.longestMs = 0;
    this.lastAt = performance.now();
  }

  private look({ content, fields }: amqp.ConsumeMessage): void {
    const [publisher, number] = content.toString().split(' ') as [string, string];
    const expected = this.next.get(publisher) ?? 0;
    if (Number(number) !== expected || fields.redelivered)
      this.faults.push(`${content}${fields.redelivered ? ', flagged' : ''}: ${expected} is due`);
    this.next.set(publisher, Number(number) + 1);
    this.taken++;
    this.longestMs = Math.max(this.longestMs, performance.now() - this.lastAt);
    this.lastAt = performance.now();
  }
}

describe('a queue in use', () => {
  it('r248: moves to one node and back to all when its policy says so: nothing is lost, doubled, flagged or out of order', async (t) => {
    await withCluster([], async (cluster) => {
      const [first, second, third] = cluster.nodes as [(typeof cluster.nodes)[0], ...typeof cluster.nodes];
      const connection = await amqp.connect(first.amqpUrl);
      const channel = await connection.createConfirmChannel();
      await channel.assertQueue('moving', { durable: true });
      for (let i = 0; i < backlog; i++)
        channel.sendToQueue('moving', Buffer.from(`backlog ${i}`), { persistent: true });
      await channel.waitForConfirms();
      const publishers = [new NumberedPublisher('p1'), new NumberedPublisher('p2')];
      const consumer = new NumberedConsumer();
      await publishers[0]!.start(first.amqpUrl);
      await publishers[1]!.start(third!.amqpUrl);
      await consumer.start(second!.amqpUrl);
      const groups = [(await placeOf(cluster, 'moving')).group];
      for (const [definition, nodes] of [
        ['replicate=none', 1],
        ['replicate=all', 3],
        ['replicas=2', 2],
        ['replicate=none', 1],
        ['replicate=all', 3],
      ] as const) {
        await sleep(300);
        consumer.forgetPause();
        for (const publisher of publishers) publisher.longestMs = 0;
        await setPolicy(cluster, definition);
        const { group, leader } = await untilOn(cluster, nodes);
        await sleep(500);
        assert.notEqual(group, groups.at(-1));
        groups.push(group);
        const pauses = [consumer, ...publishers].map(({ longestMs }) => Math.round(longestMs));
        t.diagnostic(`${definition}: group ${group} of ${leader}; longest pauses ${pauses.join(', ')} ms`);
        assert.ok(Math.max(...pauses) < pauseMsMax, `${definition}: ${pauses.join(', ')} ms`);
      }
      await Promise.all(publishers.map((publisher) => publisher.stop()));
      const sent = backlog + publishers.reduce((sum, publisher) => sum + publisher.sent, 0);
      for (const deadline = performance.now() + 20_000; consumer.taken < sent; await sleep(20))
        assert.ok(performance.now() < deadline, `${consumer.taken} of ${sent}`);
      assert.deepEqual(consumer.faults, []);
      await consumer.stop();
      assert.equal((await placeOf(cluster, 'moving')).messages, 0);
      await connection.close();
    });
  });

  it('r248: what waits in it is on the other nodes when it has moved to them; what a client holds stays the client’s', async () => {
    await withCluster([], async (cluster) => {
      const [first, second] = cluster.nodes as [(typeof cluster.nodes)[0], ...typeof cluster.nodes];
      await setPolicy(cluster, 'replicate=none');
      const connection = await amqp.connect(second!.amqpUrl);
      const channel = await connection.createConfirmChannel();
      const atHome = await amqp.connect(first.amqpUrl);
      await (await atHome.createChannel()).assertQueue('moving', { durable: true });
      await atHome.close();
      for (let i = 0; i < 3000; i++) channel.sendToQueue('moving', Buffer.from(String(i)), { persistent: true });
      await channel.waitForConfirms();
      const [acked, returned] = [await channel.get('moving'), await channel.get('moving')];
      assert.ok(acked !== false && returned !== false);
      const alone = await untilOn(cluster, 1);
      assert.equal(alone.leader, first.name);

      await setPolicy(cluster, 'replicate=all');
      for (const deadline = performance.now() + 20_000; ; await sleep(20)) {
        const place = await placeOf(cluster, 'moving');
        if (place.moving === 'swept' && place.messages === 3000) break;
        assert.ok(performance.now() < deadline, JSON.stringify(place));
      }
      channel.ack(acked);
      channel.nack(returned);
      const moved = await untilOn(cluster, 3);
      assert.equal(moved.messages, 2999);
      // The node that had it alone is lost for good.
      await first.kill();
      const seen = new Map<string, boolean>();
      for (let message = await channel.get('moving'); message !== false; message = await channel.get('moving'))
        seen.set(message.content.toString(), message.fields.redelivered);
      assert.equal(seen.size, 2999);
      assert.equal(seen.get('1'), true);
      assert.equal(seen.has('0'), false);
      await connection.close();
    });
  });
});

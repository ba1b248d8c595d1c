/** A disk that fills up: publishing waits and says why, consuming goes on, nothing confirmed is lost, and it resumes by itself. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import * as amqp from 'amqplib';
import { LoneBroker } from '../support/lone-broker.js';
import { SmallDisk } from '../support/small-disk.js';

const mebibyte = 1024 * 1024;
const bodyBytes = 100_000;
const waitMsMax = 30_000;

/** Publishes numbered messages, one after the other. */
class Publisher {
  confirmed = 0;
  sent = 0;
  /** '' while it may publish. */
  blocked = '';
  private readonly channel: amqp.ConfirmChannel;

  private constructor(connection: amqp.ChannelModel, channel: amqp.ConfirmChannel) {
    this.channel = channel;
    connection.on('blocked', (reason: string) => {
      this.blocked = reason;
    });
    connection.on('unblocked', () => {
      this.blocked = '';
    });
    connection.on('error', () => {});
    channel.on('error', () => {});
  }

  static async connect(url: string): Promise<Publisher> {
    const connection = await amqp.connect(url);
    const channel = await connection.createConfirmChannel();
    await channel.assertQueue('numbered', { durable: true });
    return new Publisher(connection, channel);
  }

  publish(): void {
    const body = Buffer.alloc(bodyBytes, 'x');
    body.writeUInt32BE(++this.sent);
    this.channel.sendToQueue('numbered', body, { persistent: true }, (error) => {
      if (error === null) this.confirmed++;
    });
  }

  /** Publishes with a few unconfirmed ones until the broker takes no more. */
  async untilBlocked(): Promise<void> {
    await until('it is blocked', () => {
      while (this.blocked === '' && this.sent - this.confirmed < 20) this.publish();
      return this.blocked !== '';
    });
  }
}

async function until(what: string, holds: () => boolean): Promise<void> {
  const deadline = performance.now() + waitMsMax;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`${what}: not within ${waitMsMax} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Numbers of the messages that are in the queue, in order; they are taken out. */
async function drain(url: string, count: number): Promise<number[]> {
  const connection = await amqp.connect(url);
  const channel = await connection.createChannel();
  const numbers: number[] = [];
  await channel.prefetch(100);
  await channel.consume('numbered', (message) => {
    numbers.push(message!.content.readUInt32BE());
    channel.ack(message!);
  });
  await until(`${count} messages`, () => numbers.length >= count);
  await connection.close();
  return numbers;
}

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

describe('a full disk', () => {
  for (const { what, options, freeBytes, reason } of [
    { what: 'that is nearly full', options: [], freeBytes: 60 * mebibyte, reason: /only \d+ MB are free on the disk/ },
    { what: 'without a byte left', options: ['--disk-free-min', '0'], freeBytes: mebibyte, reason: /the disk is full/ },
  ]) {
    it(`${what}: publishers are told and wait, consumers go on, it resumes when there is space`, async () => {
      using disk = new SmallDisk(160 * mebibyte);
      await using broker = await LoneBroker.start({ data: join(disk.path, 'data'), options });
      const publisher = await Publisher.connect(broker.url);
      for (let i = 0; i < 100; i++) publisher.publish();
      await until('the first confirms', () => publisher.confirmed === 100);
      disk.fillUp(freeBytes);
      await publisher.untilBlocked();
      assert.match(publisher.blocked, reason);
      const got = await drain(broker.url, 50);
      assert.deepEqual(got, range(got.length));
      // What the broker had read before it said so is kept, neither confirmed nor lost.
      const { confirmed } = publisher;
      await new Promise((resolve) => setTimeout(resolve, 1500));
      assert.ok(publisher.blocked !== '' && publisher.confirmed >= confirmed);
      disk.relieve();
      await until('it is unblocked', () => publisher.blocked === '');
      await until('all confirms', () => publisher.confirmed === publisher.sent);
      publisher.publish();
      await until('one more confirm', () => publisher.confirmed === publisher.sent);
      await broker.kill();
      await broker.start();
      const rest = await drain(broker.url, publisher.sent - got.length);
      assert.deepEqual(rest.slice(-(publisher.sent - got.length)), range(publisher.sent).slice(got.length));
    });
  }

  for (const mebibytes of [100, 150])
    it(`of ${mebibytes} MiB that the broker filled alone is free again after a drain, without a restart`, async () => {
      using disk = new SmallDisk(mebibytes * mebibyte);
      await using broker = await LoneBroker.start({ data: join(disk.path, 'data') });
      const publisher = await Publisher.connect(broker.url);
      await publisher.untilBlocked();
      const got = await drain(broker.url, publisher.confirmed);
      await until('it is unblocked', () => publisher.blocked === '');
      await until('all confirms', () => publisher.confirmed === publisher.sent);
      publisher.publish();
      await until('one more confirm', () => publisher.confirmed === publisher.sent);
      const rest = await drain(broker.url, publisher.sent - got.length);
      assert.deepEqual([...got, ...rest].slice(0, got.length), range(got.length));
      assert.deepEqual(rest.slice(-(publisher.sent - got.length)), range(publisher.sent).slice(got.length));
    });

  it('does not keep a broker that was killed from starting and serving what it has', async () => {
    using disk = new SmallDisk(100 * mebibyte);
    await using broker = await LoneBroker.start({ data: join(disk.path, 'data') });
    const publisher = await Publisher.connect(broker.url);
    for (let i = 0; i < 40; i++) publisher.publish();
    await until('all confirms', () => publisher.confirmed === publisher.sent);
    // When the journal is idle it tells what is synced, and leaves zeros behind that.
    const journal = join(disk.path, 'data', 'journal-0000000001.seg');
    await until('zeros are left', () =>
      readFileSync(journal)
        .subarray(-4096)
        .every((byte) => byte === 0),
    );
    disk.fillUp(0);
    await broker.kill();
    await broker.start();
    const first = await drain(broker.url, 40);
    assert.deepEqual(first, range(40));
    disk.relieve();
  });
});

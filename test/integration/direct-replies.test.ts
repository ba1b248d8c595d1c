/** Requests and replies over a cluster, without queues for the replies. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as amqp from 'amqplib';
import { Cluster } from '../../src/index.js';

const replyTo = 'amq.rabbitmq.reply-to';

describe('direct replies', () => {
  it('come through any node, and end with the node that waits for them', async () => {
    await using cluster = await Cluster.start({ nodes: 3 });
    const [asking, serving, third] = await Promise.all(
      ['n1', 'n2', 'n3'].map((node) => amqp.connect(cluster.amqpUrl(node))),
    );
    assert.ok(asking && serving && third);
    for (const connection of [asking, serving, third]) connection.on('error', () => {});
    const [asker, server, replier] = await Promise.all([asking, serving, third].map((one) => one.createChannel()));
    assert.ok(asker && server && replier);
    await server.assertQueue('service', { exclusive: false });

    replier.on('error', () => {});
    const replies: string[] = [];
    let last = (): void => {};
    const all = new Promise<void>((resolve) => (last = resolve));
    await asker.consume(
      replyTo,
      (message) => {
        replies.push(`${message!.properties.correlationId} ${message!.content.toString()}`);
        if (replies.length === 100) last();
      },
      { noAck: true },
    );
    const addresses = new Set<string>();
    let served = 0;
    await server.consume(
      'service',
      (message) => {
        const { properties, content } = message!;
        const address = properties.replyTo as string;
        addresses.add(address);
        // Through a node that has neither asked nor served.
        replier.sendToQueue(address, Buffer.from(`${content.toString()}!`), {
          correlationId: properties.correlationId,
        });
        served++;
      },
      { noAck: true },
    );
    for (let i = 0; i < 100; i++)
      asker.sendToQueue('service', Buffer.from(`q${i}`), { replyTo, correlationId: String(i) });
    await all;
    assert.equal(served, 100);
    assert.deepEqual(
      replies,
      Array.from({ length: 100 }, (_, i) => `${i} q${i}!`),
    );
    assert.equal(addresses.size, 1);

    const [address] = addresses;
    assert.equal((await replier.checkQueue(address!)).consumerCount, 1);
    await cluster.killNode('n1');
    replier.sendToQueue(address!, Buffer.from('nobody there'));
    await assert.rejects(replier.checkQueue(address!), /NOT_FOUND/);
    await serving.close();
    await third.close();
  });
});

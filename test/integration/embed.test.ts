/** Brokers and clusters inside a program. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { connect as connectSecurely } from 'node:tls';
import * as amqp from 'amqplib';
import { Broker, Cluster } from '../../src/index.js';
import { Authority } from '../support/certificates.js';
import { TemporaryFolder } from './support/command.js';
import { request } from './support/http.js';

async function publish(url: string, queue: string, texts: readonly string[]): Promise<void> {
  const connection = await amqp.connect(url);
  const channel = await connection.createConfirmChannel();
  await channel.assertQueue(queue, { durable: true });
  for (const text of texts) channel.sendToQueue(queue, Buffer.from(text), { persistent: true });
  await channel.waitForConfirms();
  await connection.close();
}

async function drain(url: string, queue: string): Promise<string[]> {
  const connection = await amqp.connect(url);
  const channel = await connection.createChannel();
  const texts: string[] = [];
  for (let message = await channel.get(queue, { noAck: true }); message !== false; ) {
    texts.push(message.content.toString());
    message = await channel.get(queue, { noAck: true });
  }
  await channel.close();
  await connection.close();
  return texts;
}

describe('Broker', () => {
  it('serves from memory on a free port', async () => {
    await using broker = await Broker.start();
    assert.ok(broker.port > 0);
    assert.equal(broker.httpUrl, '');
    await publish(broker.amqpUrl, 'q', ['a', 'b']);
    assert.deepEqual(await drain(broker.amqpUrl, 'q'), ['a', 'b']);
  });

  it('keeps its folder', async () => {
    await using folder = await TemporaryFolder.make();
    {
      await using broker = await Broker.start({ data: folder.path });
      await publish(broker.amqpUrl, 'q', ['a', 'b']);
    }
    await using broker = await Broker.start({ data: folder.path });
    assert.deepEqual(await drain(broker.amqpUrl, 'q'), ['a', 'b']);
  });

  it('refuses a taken port and leaves the folder free', async () => {
    await using folder = await TemporaryFolder.make();
    await using first = await Broker.start();
    const amqpPort = { port: first.port };
    await assert.rejects(Broker.start({ data: folder.path, amqp: amqpPort }), { code: 'EADDRINUSE' });
    await using second = await Broker.start({ data: folder.path });
    assert.notEqual(second.port, first.port);
  });

  it('serves over TLS, knows users by their certificates, and shows new ones', async () => {
    using authority = new Authority();
    const files = authority.issue('n1');
    const guest = authority.issue('guest');
    const ca = [readFileSync(files.ca)];
    await using broker = await Broker.start({
      amqps: {},
      https: {},
      tls: { ...files, clients: 'require', loginFrom: 'common-name' },
    });
    const own = { ca, cert: readFileSync(guest.certificate), key: readFileSync(guest.key) };
    const credentials = { mechanism: 'EXTERNAL', response: () => Buffer.alloc(0), username: '', password: '' };
    const connection = await amqp.connect(broker.amqpsUrl, { ...own, credentials });
    assert.match(broker.httpsUrl, /^https:\/\/127\.0\.0\.1:\d+$/);
    copyFileSync(authority.issue('other').certificate, files.certificate);
    copyFileSync(join(authority.folder, 'other.key'), files.key);
    await broker.reloadCertificates();
    const shown = connectSecurely({ ...own, port: Number(new URL(broker.amqpsUrl).port), host: '127.0.0.1' });
    await once(shown, 'secureConnect');
    assert.equal(shown.getPeerCertificate().subject.CN, 'other');
    shown.destroy();
    await connection.close();
  });

  it('refuses ports of TLS without certificates, and certificates without a port', async () => {
    await assert.rejects(Broker.start({ amqps: {} }), { name: 'RangeError', message: /^tls-certificate: / });
    const tls = { certificate: 'n1.pem', key: 'n1.key' };
    await assert.rejects(Broker.start({ tls }), { name: 'RangeError', message: /^tls-certificate: nothing is/ });
    await assert.rejects(Broker.start({ amqps: {}, tls }), /^ConfigError: tls-.*ENOENT/);
  });

  it('knows other users', async () => {
    await using broker = await Broker.start({ users: { alice: 'secret' } });
    await assert.rejects(amqp.connect(`amqp://guest:guest@127.0.0.1:${broker.port}`), /403|ACCESS[-_]REFUSED/i);
    assert.equal(broker.amqpUrl, `amqp://alice:secret@127.0.0.1:${broker.port}`);
    const connection = await amqp.connect(broker.amqpUrl);
    await connection.close();
  });
});

describe('Cluster', () => {
  for (const kind of ['memory', 'folder'] as const) {
    it(`in ${kind === 'memory' ? 'memory' : 'a folder'}: a queue survives its primary, which comes back`, async () => {
      await using folder = await TemporaryFolder.make();
      await using cluster = await Cluster.start({ data: kind === 'memory' ? 'memory' : folder.path, http: true });
      await cluster.complete();
      await publish(cluster.amqpUrl('n2'), 'q', ['a', 'b', 'c']);
      const primary = await cluster.primaryOf('q');
      await cluster.killNode(primary);
      assert.equal(cluster.running.length, 2);
      assert.throws(() => cluster.amqpUrl(primary), RangeError);
      assert.deepEqual(await drain(cluster.amqpUrl(), 'q'), ['a', 'b', 'c']);
      await publish(cluster.amqpUrl(), 'q', ['d']);
      await cluster.startNode(primary);
      await cluster.complete();
      assert.deepEqual(await drain(cluster.amqpUrl(primary), 'q'), ['d']);
    });
  }

  it('in a folder: everything is there after a restart of all', async () => {
    await using folder = await TemporaryFolder.make();
    {
      await using cluster = await Cluster.start({ data: folder.path, groups: 4 });
      await cluster.complete();
      await publish(cluster.amqpUrl('n1'), 'q', ['a', 'b']);
    }
    await using cluster = await Cluster.start({ data: folder.path });
    await cluster.complete();
    assert.deepEqual(await drain(cluster.amqpUrl('n3'), 'q'), ['a', 'b']);
  });

  it('has followers that lead nothing, until nobody else can', async () => {
    await using cluster = await Cluster.start({ nodes: 2, followers: ['n2'], http: true });
    await cluster.complete();
    const leaders = async (): Promise<string[]> => {
      const { body } = await request(`${cluster.httpUrl('n2')}/api/cluster`);
      return [...new Set((body['groups'] as { primary: string }[]).map(({ primary }) => primary))];
    };
    assert.deepEqual(await leaders(), ['n1']);
    assert.equal(cluster.isComplete, true);
    await publish(cluster.amqpUrl('n2'), 'q', ['a']);
    await cluster.killNode('n1');
    assert.deepEqual(await drain(cluster.amqpUrl('n2'), 'q'), ['a']);
  });

  it('refuses nodes that are not its own', async () => {
    await using cluster = await Cluster.start({ nodes: 1 });
    await assert.rejects(cluster.startNode('n2'), RangeError);
    for (const [options, message] of [
      [{ nodes: 0 }, 'nodes: 0 is no whole number from 1 to 31'],
      [{ nodes: 2, minInSync: 3 }, 'minInSync: 3 is no whole number from 1 to 2'],
      [{ groups: 0 }, 'groups: 0 is no whole number from 1 to 1024'],
      [{ followers: ['n9'] }, 'followers: there is no node n9: n1, n2, n3'],
      [{ memoryBytes: 1 }, 'memoryBytes: 1 is less than 16 MiB'],
    ] as const)
      await assert.rejects(Cluster.start(options), { name: 'RangeError', message });
  });
});

/** `understudy cluster` and `status`: three processes, one of them killed and brought back. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import * as amqp from 'amqplib';
import { finished, freePorts, Run, TemporaryFolder } from './support/command.js';
import { request } from './support/http.js';

interface Member {
  name: string;
  pid: number;
  amqp: string;
  state: string;
}

interface Group {
  id: number;
  epoch: number;
  primary: string;
  inSync: string[];
  joining: unknown[];
}

describe('cluster', () => {
  let folder: TemporaryFolder;
  let port: number;
  let run: Run;
  const url = (node: number): string => `http://127.0.0.1:${port + 10 + node - 1}`;
  const connect = (node: number): Promise<amqp.ChannelModel> => amqp.connect(`amqp://127.0.0.1:${port + node - 1}`);
  const pidOf = async (node: number): Promise<number> =>
    Number(await readFile(join(folder.path, `n${node}`, 'pid'), 'utf8'));

  before(async () => {
    folder = await TemporaryFolder.make();
    port = await freePorts(30);
    const address = (offset: number): string => `127.0.0.1:${port + offset}`;
    const addresses = ['--amqp', address(0), '--http', address(10), '--cluster', address(20)];
    run = new Run(['cluster', '--data', folder.path, ...addresses]);
    await run.said(/^ready/m);
  });

  after(async () => {
    await run[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  it('runs each node in a process session of its own', async () => {
    for (const node of [1, 2, 3]) {
      const pid = await pidOf(node);
      const session = execFileSync('ps', ['-o', 'sid=', '-p', String(pid)])
        .toString()
        .trim();
      assert.equal(session, String(pid));
    }
  });

  it('becomes complete', async () => {
    const { code, stdout, stderr } = await finished([
      'status',
      '--wait',
      '--timeout',
      '30s',
      '--json',
      '--url',
      url(1),
    ]);
    assert.equal(code, 0, stderr);
    const { members, groups } = JSON.parse(stdout) as { members: Member[]; groups: Group[] };
    assert.deepEqual(
      members.map(({ name, amqp: address, state }) => [name, address, state]),
      [1, 2, 3].map((node) => [`n${node}`, `127.0.0.1:${port + node - 1}`, 'ready']),
    );
    assert.equal(members[0]!.pid, await pidOf(1));
    assert.equal(groups.length, 17);
    for (const group of groups) {
      assert.deepEqual([...group.inSync].sort(), ['n1', 'n2', 'n3']);
      assert.ok(group.inSync.includes(group.primary));
      assert.ok(group.epoch >= 1);
      assert.deepEqual(group.joining, []);
    }
  });

  it('serves a queue through every node', async () => {
    const [first, third] = await Promise.all([connect(1), connect(3)]);
    const publisher = await first.createConfirmChannel();
    await publisher.assertQueue('through', { durable: true });
    for (let i = 0; i < 100; i++) publisher.sendToQueue('through', Buffer.from(String(i)), { persistent: true });
    await publisher.waitForConfirms();
    const consumer = await third.createChannel();
    const received: string[] = [];
    await new Promise<void>((resolve) => {
      void consumer.consume('through', (message) => {
        received.push(message!.content.toString());
        consumer.ack(message!);
        if (received.length === 100) resolve();
      });
    });
    assert.deepEqual(
      received,
      Array.from({ length: 100 }, (_, i) => String(i)),
    );
    await consumer.close();
    const { body } = await request(`${url(2)}/api/queues/%2F/through`);
    const { leader, members, online, messages } = body as {
      leader: string;
      members: string[];
      online: string[];
      messages: number;
    };
    assert.equal(messages, 0);
    assert.ok(members.includes(leader));
    assert.deepEqual([...online].sort(), ['n1', 'n2', 'n3']);
    await Promise.all([first.close(), third.close()]);
  });

  it('loses nothing with the primary, which stays down until it is brought back', async () => {
    const setup = await connect(1);
    const channel = await setup.createConfirmChannel();
    await channel.assertQueue('safe', { durable: true });
    for (let i = 0; i < 200; i++) channel.sendToQueue('safe', Buffer.from(String(i)), { persistent: true });
    await channel.waitForConfirms();
    await setup.close();
    const { leader } = (await request(`${url(1)}/api/queues/%2F/safe`)).body as { leader: string };
    const victim = Number(leader.slice(1));
    const survivor = (victim % 3) + 1;
    process.kill(await pidOf(victim), 'SIGKILL');
    const connection = await connect(survivor);
    const reader = await connection.createChannel();
    for (let i = 0; i < 200; i++) {
      const message = await reader.get('safe', { noAck: true });
      assert.ok(message !== false, `message ${i} is there`);
      assert.equal(message.content.toString(), String(i));
    }
    await connection.close();
    await run.said(new RegExp(`^${leader} has ended \\(SIGKILL\\)$`, 'm'));
    const { body } = await request(`${url(survivor)}/api/cluster`);
    assert.equal((body['members'] as Member[]).find(({ name }) => name === leader)!.state, 'down');

    const started = await finished(['cluster', '--start', leader, '--data', folder.path]);
    assert.equal(started.code, 0, started.stderr);
    assert.match(started.stdout, new RegExp(`^ready node=${leader} `));
    const { code, stdout, stderr } = await finished(['status', '--wait', '--timeout', '30s', '--url', url(victim)]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /3 members ready, 17 groups with all replicas/);
  });

  it('refuses to start a node twice', async () => {
    const { code, stderr } = await finished(['cluster', '--start', 'n1', '--data', folder.path]);
    assert.equal(code, 1);
    assert.match(stderr, /^understudy: n1 is running already \(pid \d+\)\n$/);
  });

  it('stops all nodes with SIGTERM, those too that were brought back', async () => {
    run.kill('SIGTERM');
    assert.equal(await run.exited, 0);
    for (const node of [1, 2, 3]) {
      await assert.rejects(connect(node), { code: 'ECONNREFUSED' });
      await assert.rejects(pidOf(node), { code: 'ENOENT' });
    }
  });
});

describe('a cluster that cannot start', () => {
  it('says why in one line, and leaves nothing running', async () => {
    await using folder = await TemporaryFolder.make();
    const port = await freePorts(30);
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(port + 1, '127.0.0.1', resolve));
    const address = (offset: number): string => `127.0.0.1:${port + offset}`;
    const addresses = ['--amqp', address(0), '--http', address(10), '--cluster', address(20)];
    const { code, stderr } = await finished(['cluster', '--data', folder.path, ...addresses]);
    other.close();
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`^understudy: n2 did not start .*127.0.0.1:${port + 1} is taken.*\\n$`));
    await assert.rejects(fetch(`http://127.0.0.1:${port + 10}/api/health`));
  });

  it('says so if it could never confirm anything', async () => {
    await using folder = await TemporaryFolder.make();
    const { code, stderr } = await finished(['cluster', '--data', folder.path, '--nodes', '2', '--min-in-sync', '3']);
    assert.equal(code, 2);
    assert.equal(stderr, 'understudy: --min-in-sync: 3 is more than the 2 nodes\n');
  });

  it('without a cluster in the folder there is nothing to bring back', async () => {
    await using folder = await TemporaryFolder.make();
    const { code, stderr } = await finished(['cluster', '--start', 'n1', '--data', folder.path]);
    assert.equal(code, 1);
    assert.match(stderr, /holds no cluster that was started by "understudy cluster"/);
  });
});

describe('a cluster that is stopped from elsewhere', () => {
  it('keeps its plan while it runs, and ends with its nodes', async () => {
    await using folder = await TemporaryFolder.make();
    const port = await freePorts(30);
    const address = (offset: number): string => `127.0.0.1:${port + offset}`;
    const options = ['cluster', '--data', folder.path, '--amqp', address(0), '--http', 'off', '--cluster', address(20)];
    await using run = new Run([...options, '--nodes', '2', '--restart']);
    await run.said(/^ready/m);
    const other = await finished([...options, '--nodes', '1']);
    assert.equal(other.code, 1);
    assert.match(other.stderr, /^understudy: n1 is running already/);
    const stopped = await finished(['cluster', '--stop', '--data', folder.path]);
    assert.equal(stopped.stdout, 'stopped 2 nodes\n');
    assert.equal(await run.exited, 0);
    assert.match(run.stdout, /^all nodes were stopped$/m);
  });

  it('ends as well when all its nodes were killed and brought back by hand', async () => {
    await using folder = await TemporaryFolder.make();
    const port = await freePorts(30);
    const address = (offset: number): string => `127.0.0.1:${port + offset}`;
    const options = ['cluster', '--data', folder.path, '--amqp', address(0), '--http', 'off', '--cluster', address(20)];
    await using run = new Run([...options, '--nodes', '2']);
    await run.said(/^ready/m);
    for (const node of ['n1', 'n2']) {
      process.kill(Number(await readFile(join(folder.path, node, 'pid'), 'utf8')), 'SIGKILL');
      const started = await finished(['cluster', '--start', node, '--data', folder.path]);
      assert.equal(started.code, 0, started.stderr);
    }
    const stopped = await finished(['cluster', '--stop', '--data', folder.path]);
    assert.equal(stopped.stdout, 'stopped 2 nodes\n');
    assert.equal(await run.exited, 0);
  });
});

/** `understudy serve`: what its users may rely on. */
import assert from 'node:assert/strict';
import type { LagSummary } from '../../src/cli/bench/lag.js';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import * as amqp from 'amqplib';
import { finished, freePorts, Run, TemporaryFolder } from './support/command.js';

function serveOptions(folder: string, port: number): string[] {
  const address = (offset: number): string => `127.0.0.1:${port + offset}`;
  return ['serve', '--data', folder, '--amqp', address(0), '--http', address(1), '--log-level', 'warn'];
}

describe('serve', () => {
  it('says ready, serves, stops cleanly on SIGTERM and keeps what was confirmed', async () => {
    await using folder = await TemporaryFolder.make();
    const port = await freePorts(2);
    const options = serveOptions(folder.path, port);
    {
      await using run = new Run(options);
      await run.said(/^ready .*amqp=127\.0\.0\.1:\d+/m);
      const connection = await amqp.connect(`amqp://127.0.0.1:${port}`);
      const channel = await connection.createConfirmChannel();
      await channel.assertQueue('kept', { durable: true });
      channel.sendToQueue('kept', Buffer.from('one'), { persistent: true });
      await channel.waitForConfirms();
      const closed = new Promise<Error>((resolve) => connection.once('close', resolve));
      run.kill('SIGTERM');
      assert.equal(await run.exited, 0);
      assert.match(String(await closed), /320|CONNECTION[-_]FORCED/i);
    }
    await using again = new Run(options);
    await again.said(/^ready/m);
    const connection = await amqp.connect(`amqp://127.0.0.1:${port}`);
    const channel = await connection.createChannel();
    const message = await channel.get('kept', { noAck: true });
    assert.ok(message !== false);
    assert.equal(message.content.toString(), 'one');
    await connection.close();
  });

  it('keeps what was confirmed when it is killed', async () => {
    await using folder = await TemporaryFolder.make();
    const port = await freePorts(2);
    const options = serveOptions(folder.path, port);
    const run = new Run(options);
    await run.said(/^ready/m);
    const connection = await amqp.connect(`amqp://127.0.0.1:${port}`);
    connection.on('error', () => {});
    const channel = await connection.createConfirmChannel();
    channel.on('error', () => {});
    await channel.assertQueue('kept', { durable: true });
    for (let i = 0; i < 100; i++) channel.sendToQueue('kept', Buffer.from(String(i)), { persistent: true });
    await channel.waitForConfirms();
    run.kill('SIGKILL');
    assert.equal(await run.exited, -1);
    await using again = new Run(options);
    await again.said(/^ready/m);
    const second = await amqp.connect(`amqp://127.0.0.1:${port}`);
    const state = await (await second.createChannel()).checkQueue('kept');
    assert.equal(state.messageCount, 100);
    await second.close();
  });

  it('ends with exit code 1 when a write fails, and has all that was confirmed', async () => {
    await using folder = await TemporaryFolder.make();
    const port = await freePorts(2);
    const options = serveOptions(folder.path, port);
    // No file may grow over 4 MiB: a write error that is no full disk.
    const run = new Run(options, "trap '' XFSZ; ulimit -f 4096");
    await run.said(/^ready/m);
    const connection = await amqp.connect(`amqp://127.0.0.1:${port}`);
    connection.on('error', () => {});
    const channel = await connection.createConfirmChannel();
    channel.on('error', () => {});
    await channel.assertQueue('kept', { durable: true });
    let confirmed = 0;
    const body = Buffer.alloc(64 * 1024, 1);
    for (let i = 0; i < 200; i++) {
      channel.sendToQueue('kept', body, { persistent: true }, (error) => {
        if (error === null || error === undefined) confirmed++;
      });
    }
    assert.equal(await run.exited, 1);
    assert.match(run.stderr, /the journal has failed: .*: the node ends/);
    await using again = new Run(options);
    await again.said(/^ready/m);
    const second = await amqp.connect(`amqp://127.0.0.1:${port}`);
    const { messageCount } = await (await second.createChannel()).checkQueue('kept');
    assert.ok(messageCount >= confirmed && messageCount < 200, `${messageCount} messages, ${confirmed} confirmed`);
    await second.close();
  });

  it('refuses a taken port with one line', async () => {
    await using folder = await TemporaryFolder.make();
    const port = await freePorts(2);
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(port, '127.0.0.1', resolve));
    const { code, stderr, stdout } = await finished(serveOptions(folder.path, port));
    other.close();
    assert.equal(code, 1);
    assert.equal(stderr, `understudy: 127.0.0.1:${port} is taken: another process listens there\n`);
    assert.equal(stdout, '');
  });

  it('refuses a data folder that another process uses, with one line', async () => {
    await using folder = await TemporaryFolder.make();
    const port = await freePorts(4);
    await using run = new Run(serveOptions(folder.path, port));
    await run.said(/^ready/m);
    const { code, stderr } = await finished(serveOptions(folder.path, port + 2));
    assert.equal(code, 1);
    assert.match(stderr, /^understudy: the data folder .* is in use by another process \(pid \d+\)\n$/);
  });

  it('refuses a data folder that is a file, with one line', async () => {
    await using folder = await TemporaryFolder.make();
    const file = join(folder.path, 'file');
    await writeFile(file, '');
    const { code, stderr } = await finished(serveOptions(file, await freePorts(2)));
    assert.equal(code, 1);
    assert.match(stderr, /^understudy: the data folder .*file cannot be made: EEXIST.*\n$/);
  });

  for (const [what, options, text] of [
    ['an unknown option', ['serve', '--ampq', 'x'], /^understudy: unknown option '--ampq'/],
    ['no address', ['serve', '--amqp', 'nowhere'], /^understudy: amqp: "nowhere" is no HOST:PORT\n$/],
    [
      'a coordinator of another kind',
      ['serve', '--coordinator', 'zk:1'],
      /coordinator: "zk:1" is no coordinator: local:DIR/,
    ],
    [
      'too many replicas in sync',
      ['serve', '--replicas', '2', '--min-in-sync', '3'],
      /min-in-sync: 3 is more than the 2/,
    ],
    ['an unknown command', ['severe'], /^understudy: unknown command 'severe'/],
    [
      'a configuration file that is not there',
      ['serve', '--config', '/nowhere/x.yaml'],
      /configuration file cannot be read/,
    ],
  ] as const) {
    it(`refuses ${what} with one line and exit code 2`, async () => {
      const { code, stderr } = await finished(options);
      assert.equal(code, 2);
      assert.match(stderr, text);
      assert.equal(stderr.trimEnd().split('\n').length, 1);
    });
  }

  it('reads a configuration file, below the command line', async () => {
    await using folder = await TemporaryFolder.make();
    const port = await freePorts(2);
    const config = join(folder.path, 'understudy.yaml');
    await writeFile(config, `node: carol\namqp: 127.0.0.1:1\nhttp: off\nmemory: 64MiB\nlog-level: error\n`);
    const data = join(folder.path, 'data');
    await using run = new Run(['serve', '--config', config, '--data', data, '--amqp', `127.0.0.1:${port}`]);
    const [line] = await run.said(/^ready.*$/m);
    assert.match(line, new RegExp(`^ready node=carol amqp=127.0.0.1:${port} pid=\\d+$`));
  });
});

describe('bench', () => {
  it('measures any broker', async () => {
    await using folder = await TemporaryFolder.make();
    const port = await freePorts(2);
    await using run = new Run(serveOptions(folder.path, port));
    await run.said(/^ready/m);
    const url = `amqp://guest:guest@127.0.0.1:${port}`;
    const { code, stdout, stderr } = await finished([
      'bench',
      '--url',
      url,
      '--time',
      '1s',
      '--size',
      '1KiB',
      '--json',
    ]);
    assert.equal(code, 0, stderr);
    const summary = JSON.parse(stdout) as Record<string, number>;
    assert.ok(summary['published']! > 100);
    assert.equal(summary['confirmed'], summary['published']);
    assert.equal(summary['consumed'], summary['published']);
  });

  it('S95: lag: times when a message is seen through each member', async () => {
    await using folder = await TemporaryFolder.make();
    const port = await freePorts(2);
    await using run = new Run(serveOptions(folder.path, port));
    await run.said(/^ready/m);
    const url = `amqp://127.0.0.1:${port}`;
    const { code, stdout, stderr } = await finished(['lag', '--url', `${url},${url}`, '--rounds', '20', '--json']);
    assert.equal(code, 0, stderr);
    const { confirm, visible } = JSON.parse(stdout) as LagSummary;
    assert.ok(confirm.p50 > 0 && visible.length === 2 && visible.every(({ lag }) => lag.max >= lag.p50 && lag.p50 > 0));
  });

  it('says in one line that nobody listens', async () => {
    const port = await freePorts(1);
    const { code, stderr } = await finished(['bench', '--url', `amqp://127.0.0.1:${port}`]);
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`^understudy: nothing listens at 127.0.0.1:${port}\\n$`));
  });

  it('says in one line who refuses it, and what is no AMQP', async () => {
    await using folder = await TemporaryFolder.make();
    const port = await freePorts(2);
    await using run = new Run(serveOptions(folder.path, port));
    await run.said(/^ready/m);
    const login = await finished(['bench', '--url', `amqp://guest:wrong@127.0.0.1:${port}`]);
    assert.match(login.stderr, new RegExp(`^understudy: 127.0.0.1:${port} refuses: 403 ACCESS_REFUSED .*\\n$`));
    const http = await finished(['bench', '--url', `amqp://127.0.0.1:${port + 1}`]);
    assert.match(http.stderr, new RegExp(`^understudy: 127.0.0.1:${port + 1} does not speak AMQP 0-9-1: .*\\n$`));
  });
});

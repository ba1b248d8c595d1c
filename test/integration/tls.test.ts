/** TLS for clients, as real clients and a real broker have it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request as requestSecurely } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { connect as connectSecurely } from 'node:tls';
import * as amqp from 'amqplib';
import { stopInTheMiddle } from '../support/attacks/half-tls.js';
import { notAmqp } from '../support/attacks/sockets.js';
import { Authority, type CertificateFiles } from '../support/certificates.js';
import { freePorts } from '../support/free-ports.js';
import type { ClientOptions } from 'ws';
import { bytes, RheaClient, textOf } from '../support/rhea-client.js';
import { mebibyte, Target } from '../support/target.js';
import { openWebSocket, rheaOver } from '../support/web-sockets.js';
import { finished } from './support/command.js';

const firstPort = 30_500;

const external = { mechanism: 'EXTERNAL', response: () => Buffer.alloc(0), username: '', password: '' };

const ours = new Authority();
const theirs = new Authority();
const folder = mkdtempSync(join(tmpdir(), 'understudy-tls-'));

/** Where the broker's own certificate is, to be replaced. */
const own: CertificateFiles = {
  ca: join(folder, 'ca.pem'),
  certificate: join(folder, 'n.pem'),
  key: join(folder, 'n.key'),
};

function put(files: CertificateFiles): void {
  copyFileSync(files.ca, own.ca);
  copyFileSync(files.key, own.key);
  copyFileSync(files.certificate, own.certificate);
}

async function eventually(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + 20_000; !(await isSo()); ) {
    assert.ok(performance.now() < deadline, `not in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe('TLS for clients', () => {
  let target: Target;
  let amqps: number;
  let https: number;
  const guest = ours.issueFor('guest', { subject: '/O=acme/CN=guest', names: 'email:guest@example.org' });

  before(async () => {
    put(ours.issueFor('n1', { subject: '/CN=first', names: 'IP:127.0.0.1' }));
    [amqps, https] = (await freePorts(firstPort, 2)) as [number, number];
    const at = ['--amqps', `127.0.0.1:${amqps}`, '--https', `127.0.0.1:${https}`];
    const files = ['--tls-certificate', own.certificate, '--tls-key', own.key, '--tls-ca', own.ca];
    const checks = ['--tls-clients', 'request', '--tls-login-from', 'common-name'];
    target = await Target.start({ options: [...at, ...files, ...checks, '--log-level', 'info'] });
  });
  after(async () => {
    await target[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
    ours[Symbol.dispose]();
    theirs[Symbol.dispose]();
  });

  const options = (shown?: CertificateFiles, ca = ours): object => ({
    ca: [readFileSync(join(ca.folder, 'ca.pem'))],
    ...(shown === undefined ? {} : { cert: readFileSync(shown.certificate), key: readFileSync(shown.key) }),
  });
  const connect = (shown?: CertificateFiles, more: object = {}): Promise<amqp.ChannelModel> =>
    amqp.connect(`amqps://127.0.0.1:${amqps}`, { ...options(shown), ...more });

  /** Lines of the log that have this text, from `from` on. */
  const linesWith = (text: string, from = 0): string[] =>
    target.broker.log
      .slice(from)
      .split('\n')
      .filter((line) => line.includes(text));

  /** What `openssl s_client` says, connected to the broker. */
  function openssl(...args: (string | { input: string })[]): string {
    const words = args.filter((word) => typeof word === 'string');
    const { input = '' } = args.find((word) => typeof word === 'object') ?? {};
    const all = ['s_client', '-connect', `127.0.0.1:${amqps}`, ...words];
    const { stdout, stderr } = spawnSync('openssl', all, { input, encoding: 'utf8', timeout: 20_000 });
    return `${stdout}${stderr}`;
  }

  /** Whose certificate the broker shows now. */
  function shown(): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connectSecurely({ port: amqps, host: '127.0.0.1', ...options() }, () => {
        resolve(String(socket.getPeerCertificate().subject.CN));
        socket.destroy();
      });
      socket.on('error', reject);
    });
  }

  it('carries what is published, confirmed and consumed, with a name and a password', async () => {
    const connection = await connect();
    const channel = await connection.createConfirmChannel();
    const { queue } = await channel.assertQueue('', { exclusive: true });
    for (const size of [0, 1, 20_000, 3_000_000]) channel.sendToQueue(queue, Buffer.alloc(size, 7));
    await channel.waitForConfirms();
    for (const size of [0, 1, 20_000, 3_000_000]) {
      const message = await channel.get(queue, { noAck: true });
      assert.ok(message !== false);
      assert.ok(message.content.equals(Buffer.alloc(size, 7)));
    }
    await connection.close();
    await assert.rejects(amqp.connect(`amqps://guest:wrong@127.0.0.1:${amqps}`, options()), /ACCESS_REFUSED|403/);
  });

  it('knows a client by its certificate (EXTERNAL), and refuses one that names no user', async () => {
    const connection = await connect(guest, { credentials: external });
    await (await connection.createChannel()).assertQueue('of-guest', { exclusive: true });
    await connection.close();
    const stranger = ours.issueFor('stranger', { subject: '/CN=stranger' });
    await assert.rejects(connect(stranger, { credentials: external }), /ACCESS_REFUSED|403/);
    assert.equal(linesWith('"user":"stranger"').length, 1);
    // Without a certificate it is not offered; who wants it all the same is told.
    await assert.rejects(connect(undefined, { credentials: external }), /unknown authentication mechanism|EXTERNAL/i);
  });

  it('carries AMQP over WebSocket (wss), and knows who is there by the certificate', async () => {
    const asked = { at: `wss://127.0.0.1:${amqps}`, options: options(guest) as ClientOptions };
    const rhea = await RheaClient.open({ port: amqps, more: rheaOver(asked) });
    const receiver = await rhea.receiver('/exchanges/amq.topic/secure');
    const sender = await rhea.sender('/exchanges/amq.topic/secure');
    assert.equal(await sender.send({ body: bytes('x'.repeat(500_000)) }), 'accepted');
    assert.equal(textOf((await receiver.take(1))[0]!).length, 500_000);
    assert.deepEqual(rhea.errors, []);
    await rhea.close();
    // rhea offers EXTERNAL over sockets of its own only.
    const client = await openWebSocket(asked);
    let said = '';
    client.on('message', (bytes) => (said += String(bytes)));
    client.send(Buffer.from('AMQP\x03\x01\x00\x00', 'latin1'));
    await eventually('EXTERNAL is offered', () => said.includes('EXTERNAL'));
    client.terminate();
  });

  it('ends with who shows an expired certificate, or one of another authority; the log says who and why, once', async () => {
    for (const [files, reason] of [
      [ours.issueFor('expired', { subject: '/CN=guest', days: -1 }), 'has expired'],
      [theirs.issueFor('foreign', { subject: '/CN=guest' }), 'is not good here, issued by CN=ca'],
    ] as const) {
      const from = target.broker.log.length;
      await assert.rejects(connect(files));
      const lines = linesWith('a client was refused at TLS', from);
      assert.equal(lines.length, 1, lines.join('\n'));
      assert.match(lines[0]!, /"client":"127\.0\.0\.1:\d+"/);
      assert.ok(lines[0]!.includes(`its certificate (CN=guest) ${reason}`), lines[0]);
    }
  });

  it('has AMQP 1.0 on the same port: with a password, and for whom a certificate names', async () => {
    const queue = await connect();
    await (await queue.createChannel()).assertQueue('secure10');
    await queue.close();
    const secure = { transport: 'tls', servername: '' };
    const ways = [
      { ...secure, ...options() },
      { ...secure, ...options(guest), username: undefined, password: undefined, enable_sasl_external: true },
    ];
    for (const more of ways) {
      const client = await RheaClient.open({ port: amqps, more });
      assert.equal(await (await client.sender('secure10')).send({ body: 'x' }), 'accepted');
      await client.close();
    }
  });

  it('is refused by clients that trust somebody else; the log says so if they do', async () => {
    await assert.rejects(
      amqp.connect(`amqps://127.0.0.1:${amqps}`, options(undefined, theirs)),
      /certificate|unable to verify/,
    );
    const from = target.broker.log.length;
    openssl('-CAfile', join(theirs.folder, 'ca.pem'), '-verify_return_error');
    await eventually('it is logged', () => linesWith('alert unknown ca', from).length === 1);
  });

  it('is TLS 1.2 or 1.3, without renegotiation, and no session is taken up again', async () => {
    const from = target.broker.log.length;
    const ca = ['-CAfile', join(ours.folder, 'ca.pem')];
    for (const version of ['-tls1', '-tls1_1'])
      assert.match(openssl(...ca, version, '-cipher', 'ALL:@SECLEVEL=0'), /alert protocol version/, version);
    assert.equal(linesWith('a client was refused at TLS', from).length, 2);
    assert.match(openssl(...ca, '-tls1_2', { input: 'R\n' }), /no renegotiation/);
    for (const version of ['-tls1_2', '-tls1_3']) {
      const session = join(folder, 'session');
      assert.match(openssl(...ca, version, '-sess_out', session), /^New, TLSv1/m);
      assert.match(openssl(...ca, version, '-sess_in', session), /^New, TLSv1/m);
    }
  });

  it('and AMQP in the clear end each other, and the log says how to go on', async () => {
    const from = target.broker.log.length;
    await assert.rejects(amqp.connect(`amqp://127.0.0.1:${amqps}`), /closed|ended|RESET/i);
    assert.equal(linesWith('it speaks AMQP without TLS: its URL must begin with amqps', from).length, 1);
    await assert.rejects(amqp.connect(`amqps://127.0.0.1:${target.port}`, options()), /wrong version|packet length/);
    assert.equal(linesWith('it speaks TLS, and this port does not: its URL must begin with amqp,', from).length, 1);
    await notAmqp(target.port);
  });

  it('carries HTTP, from where both ports are told', async () => {
    const body = await new Promise<string>((resolve, reject) => {
      const auth = 'guest:guest';
      requestSecurely({ port: https, host: '127.0.0.1', path: '/api/cluster', auth, ...options() }, (response) => {
        let text = '';
        response.on('data', (bytes) => {
          text += String(bytes);
        });
        response.on('end', () => resolve(text));
      })
        .on('error', reject)
        .end();
    });
    const { members } = JSON.parse(body) as { members: Record<string, string>[] };
    assert.deepEqual([members[0]!['amqps'], members[0]!['https']], [`127.0.0.1:${amqps}`, `127.0.0.1:${https}`]);
    await assert.rejects(fetch(`http://127.0.0.1:${https}/api/cluster`));
  });

  it('shows new certificates without a restart: by itself, on SIGHUP, not if they are broken; who is connected stays', async () => {
    const connection = await connect();
    let lost = false;
    connection.on('close', () => {
      lost = true;
    });
    const channel = await connection.createConfirmChannel();
    const { queue } = await channel.assertQueue('', { exclusive: true });
    assert.equal(await shown(), 'first');
    put(ours.issueFor('n2', { subject: '/CN=second', names: 'IP:127.0.0.1' }));
    await eventually('the second is shown', async () => (await shown()) === 'second');
    writeFileSync(own.certificate, 'no certificate');
    target.broker.signal('SIGHUP');
    await eventually('it is said', () => linesWith('new certificates cannot be used, the old ones stay').length > 0);
    assert.equal(await shown(), 'second');
    put(ours.issueFor('n3', { subject: '/CN=third', names: 'IP:127.0.0.1' }));
    target.broker.signal('SIGHUP');
    await eventually('the third is shown', async () => (await shown()) === 'third');
    channel.sendToQueue(queue, Buffer.from('still here'));
    await channel.waitForConfirms();
    assert.equal(lost, false);
    await connection.close();
  });

  it('is measured by bench', async () => {
    const url = `amqps://127.0.0.1:${amqps}`;
    process.env['NODE_EXTRA_CA_CERTS'] = join(ours.folder, 'ca.pem');
    const { code, stdout, stderr } = await finished(['bench', '--url', url, '--time', '1s', '--json']);
    delete process.env['NODE_EXTRA_CA_CERTS'];
    assert.equal(code, 0, stderr);
    const summary = JSON.parse(stdout) as Record<string, number>;
    assert.ok(summary['published']! > 100);
    assert.equal(summary['consumed'], summary['published']);
  });

  it('does not stop for 2,000 clients that stop in its handshake, and lets others in meanwhile', async () => {
    await target.survives(
      async () => {
        const end = await stopInTheMiddle(amqps, 2000);
        await (await connect()).close();
        assert.ok(end() < 2000, 'those within the limits were given their time');
      },
      { growthBytesMax: 200 * mebibyte },
    );
    await (await connect()).close();
  });
});

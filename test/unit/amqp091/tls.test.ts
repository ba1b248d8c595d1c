/** AMQP over TLS against the fake broker: who gets in, as whom, and what is bounded. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as dialPlain, type Socket } from 'node:net';
import { after, describe, it } from 'node:test';
import { connect, type SecureContextOptions } from 'node:tls';
import { protocolHeader, MethodId, ConnectionStartOk } from '../../../src/amqp091/codec/index.js';
import type { Limits } from '../../../src/amqp091/limits.js';
import { silentLogger } from '../../../src/base/logger.js';
import { readCertificates } from '../../../src/security/certificate-files.js';
import { TlsEntrance } from '../../../src/security/tls-entrance.js';
import type { ClientCheck, LoginPart } from '../../../src/security/tls-options.js';
import { AmqpHost, eventually, systemClock } from '../../fakes/amqp-host.js';
import { RawClient } from '../../support/raw-client.js';
import { Authority, type CertificateFiles, readCertificates as readFiles } from '../../support/certificates.js';

const ours = new Authority();
const theirs = new Authority();
after(() => {
  ours[Symbol.dispose]();
  theirs[Symbol.dispose]();
});

const server = ours.issue('server');
const guest = ours.issueFor('guest', { subject: '/O=acme/CN=guest' });
const nobody = ours.issueFor('nobody', { subject: '/CN=nobody' });
const nameless = ours.issueFor('nameless', { subject: '/O=acme' });
const expired = ours.issueFor('expired', { subject: '/CN=guest', days: -1 });
const foreign = theirs.issueFor('foreign', { subject: '/CN=guest' });

class Secure implements AsyncDisposable {
  readonly host: AmqpHost;
  readonly port: number;
  readonly lines: string[];

  private constructor(host: AmqpHost, port: number, lines: string[]) {
    this.host = host;
    this.port = port;
    this.lines = lines;
  }

  static async start(
    clients: ClientCheck,
    limits: Partial<Limits> = {},
    loginFrom: LoginPart = 'common-name',
  ): Promise<Secure> {
    const lines: string[] = [];
    const warn = (message: string, fields?: object): void => void lines.push(`${message} ${JSON.stringify(fields)}`);
    const entrance = new TlsEntrance({
      certificates: await readCertificates(server),
      clients,
      loginFrom,
      clock: systemClock,
      logger: { ...silentLogger, warn },
    });
    const host = await AmqpHost.start(limits);
    return new Secure(host, await host.listenTls(entrance), lines);
  }

  /** A client that has been told what it may choose from. */
  async started(shown?: CertificateFiles): Promise<{ client: RawClient; mechanisms: string[] }> {
    const client = await RawClient.dial(this.port, showing(shown));
    client.sendBytes(protocolHeader);
    const { method } = await client.expect(MethodId.connectionStart);
    return { client, mechanisms: method.mechanisms.split(' ') };
  }

  /** A client that shows this gets nothing but the end. Returns the one line about it. */
  async refused(shown?: CertificateFiles): Promise<string> {
    const { lines } = this;
    lines.length = 0;
    const socket = connect({ port: this.port, host: '127.0.0.1', ...showing(shown) });
    let said = 0;
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      said += bytes.length;
    });
    socket.on('secureConnect', () => socket.write(protocolHeader));
    await new Promise((resolve) => socket.once('close', resolve));
    assert.equal(said, 0);
    await eventually(() => this.host.server.unfinished === 0, 'nothing is kept');
    assert.equal(lines.length, 1, lines.join('\n'));
    assert.match(lines[0]!, /^a client was refused at TLS \{"client":"127\.0\.0\.1:\d+","protocol":"AMQP","reason":/);
    return (JSON.parse(lines[0]!.slice(lines[0]!.indexOf('{'))) as { reason: string }).reason;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.host[Symbol.asyncDispose]();
  }
}

function showing(shown?: CertificateFiles): SecureContextOptions {
  const { ca } = readFiles(server);
  if (shown === undefined) return { ca };
  const { certificate, key } = readFiles(shown);
  return { ca, cert: certificate, key };
}

function dial(port: number): Socket {
  const socket = dialPlain(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.resume();
  return socket;
}

describe('AMQP over TLS', () => {
  it('is AMQP: a client publishes, gets, and its connection says that it is encrypted', async () => {
    await using secure = await Secure.start('none');
    const client = await RawClient.open(secure.port, { tls: showing() });
    assert.equal(secure.host.server.list()[0]!.tls, 'TLSv1.3');
    await client.openChannel(1);
    client.publish(1, '', 'nowhere', Buffer.alloc(1_000_000, 1), {}, true);
    const { body } = await client.expect(MethodId.basicReturn, 1);
    assert.equal(body.length, 1_000_000);
    client.end();
    await eventually(() => secure.host.server.connectionCount === 0, 'its end is noticed');
  });

  it('offers EXTERNAL to those whom their certificate names, and knows them by it, whatever they say', async () => {
    await using secure = await Secure.start('request');
    assert.ok(!(await secure.started()).mechanisms.includes('EXTERNAL'));
    assert.ok(!(await secure.started(nameless)).mechanisms.includes('EXTERNAL'));
    const { client, mechanisms } = await secure.started(guest);
    assert.ok(mechanisms.includes('PLAIN') && mechanisms.includes('EXTERNAL'));
    client.send(0, new ConnectionStartOk({}, 'EXTERNAL', Buffer.from('\0*\0*'), 'en_US'));
    await client.expect(MethodId.connectionTune);
    assert.deepEqual(
      secure.host.server
        .list()
        .map(({ user, mechanism }) => [user, mechanism])
        .at(-1),
      ['guest', 'EXTERNAL'],
    );
  });

  it('refuses a certificate whose name is no user, as a wrong password is refused', async () => {
    await using secure = await Secure.start('request');
    const { client } = await secure.started(nobody);
    const capabilities = { authentication_failure_close: true };
    client.send(0, new ConnectionStartOk({ capabilities }, 'EXTERNAL', Buffer.alloc(0), 'en_US'));
    const { method } = await client.expect(MethodId.connectionClose);
    assert.equal(method.replyCode, 403);
    assert.match(method.replyText, /ACCESS_REFUSED - Login was refused using authentication mechanism EXTERNAL/);
  });

  it('has no EXTERNAL for those who show nothing', async () => {
    await using secure = await Secure.start('request');
    const { client } = await secure.started();
    client.send(0, new ConnectionStartOk({}, 'EXTERNAL', Buffer.alloc(0), 'en_US'));
    assert.equal((await client.expect(MethodId.connectionClose)).method.replyCode, 503);
  });

  it('takes the name from the part that was asked for', async () => {
    await using secure = await Secure.start('require', {}, 'distinguished-name');
    const { client } = await secure.started(guest);
    client.send(0, new ConnectionStartOk({}, 'EXTERNAL', Buffer.alloc(0), 'en_US'));
    // There is no user `CN=guest,O=acme`.
    await assert.rejects(client.next(), /the server closed the socket/);
  });

  it('ends with who shows an expired certificate, one of somebody else, or none, and says so once', async () => {
    await using secure = await Secure.start('require');
    assert.match(await secure.refused(expired), /^its certificate \(CN=guest\) has expired: .* GMT$/);
    assert.match(
      await secure.refused(foreign),
      /^its certificate \(CN=guest\) is not good here, issued by CN=ca: [A-Z_]+$/,
    );
    assert.equal(await secure.refused(), 'it shows no certificate');
    await using asking = await Secure.start('request');
    assert.match(await asking.refused(expired), /has expired/);
  });

  it('ends with who speaks AMQP in the clear, or something else, and says so', async () => {
    await using secure = await Secure.start('none');
    for (const [said, reason] of [
      [protocolHeader, /it speaks AMQP without TLS: its URL must begin with amqps/],
      [Buffer.from('GET / HTTP/1.1\r\n\r\n'), /what it says first is not TLS/],
    ] as const) {
      secure.lines.length = 0;
      const socket = dial(secure.port);
      socket.write(said);
      await new Promise((resolve) => socket.once('close', resolve));
      assert.match(secure.lines.join(), reason);
    }
  });

  it('gives a hello that comes byte by byte its time', async () => {
    await using secure = await Secure.start('none');
    const socket = dialPlain(secure.port, '127.0.0.1');
    // A way for TLS that delivers one byte after the other.
    const { Duplex } = await import('node:stream');
    const slow = new Duplex({
      read() {},
      write(bytes: Buffer, _encoding, done) {
        for (const byte of bytes) socket.write(Buffer.of(byte));
        setImmediate(done);
      },
    });
    socket.setNoDelay(true);
    socket.on('data', (bytes) => slow.push(bytes));
    const tls = connect({ socket: slow, ...showing(), host: '127.0.0.1' });
    await once(tls, 'secureConnect');
    tls.destroy();
    socket.destroy();
  });

  it('drops handshakes that take too long, and the oldest of too many', async () => {
    await using secure = await Secure.start('none', { handshakesMax: 5, handshakeTimeoutMs: 300 });
    const closed: Promise<unknown>[] = [];
    for (let i = 0; i < 8; i++) {
      const socket = dial(secure.port);
      closed.push(new Promise((resolve) => socket.once('close', resolve)));
      await once(socket, 'connect');
      socket.write(i % 2 === 0 ? '' : '\x16\x03\x01');
    }
    await eventually(() => secure.host.server.counters.connectionsRefused >= 3, 'three are one too many');
    assert.ok(secure.host.server.unfinished <= 5);
    (await secure.started()).client.end();
    await Promise.all(closed);
    await eventually(() => secure.host.server.unfinished === 0, 'nothing is kept');
  });

  it('delivers no more to a client that does not read than to one in the clear', async () => {
    await using secure = await Secure.start('none');
    const { host } = secure;
    const client = await RawClient.open(secure.port, { tls: showing() });
    await client.openChannel(1);
    client.socket.pause();
    // Each comes back: output that the client does not take.
    for (let i = 0; i < 300; i++) client.publish(1, '', 'nowhere', Buffer.alloc(100_000, 1), {}, true);
    let pending = 0;
    await eventually(() => {
      const before = pending;
      pending = host.server.list()[0]!.pendingBytes;
      return pending > 4 * 1024 * 1024 && pending === before;
    }, 'what waits for the client grows no more');
    assert.ok(pending < 6 * 1024 * 1024, `${pending} bytes`);
    client.end();
  });

  it('is ended with the server, and so are those that are not through with TLS', async () => {
    const secure = await Secure.start('none');
    const silent = dial(secure.port);
    const ended = new Promise((resolve) => silent.once('close', resolve));
    const client = await RawClient.open(secure.port, { tls: showing() });
    await eventually(() => secure.host.server.unfinished === 1, 'it has come');
    const stopped = secure.host.server.stop('shutdown');
    await client.expect(MethodId.connectionClose);
    client.end();
    await Promise.all([stopped, ended]);
  });
});

describe('AMQP in the clear', () => {
  it('answers TLS with its header and the end, and the log says what is wrong', async () => {
    const lines: string[] = [];
    await using host = await AmqpHost.start({}, systemClock, {
      ...silentLogger,
      warn: (message, fields) => void lines.push(`${message} ${JSON.stringify(fields)}`),
    });
    const tls = connect({ port: host.port, host: '127.0.0.1', ...showing() });
    await assert.rejects(once(tls, 'secureConnect'), /wrong version number|packet length/);
    assert.match(lines.join(), /^a client was turned away .*"reason":"it speaks TLS, and this port does not/);
  });
});

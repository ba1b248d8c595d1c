import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { connect } from 'node:tls';
import { type ByteStream, DialError } from '../../../src/cluster/byte-stream.js';
import { type LinkTls, TcpTransport } from '../../../src/cluster/link/tcp-transport.js';
import { Authority, readCertificates } from '../../support/certificates.js';
import { eventually } from '../coordinator/contract.js';
import { tcpNode } from './tcp-node.js';

const ours = new Authority();
const theirs = new Authority();
after(() => {
  ours[Symbol.dispose]();
  theirs[Symbol.dispose]();
});

const n1 = readCertificates(ours.issue('n1'));
const n2 = readCertificates(ours.issue('n2'));
const elsewhere = readCertificates(ours.issue('elsewhere', '10.9.8.7'));
const stranger = readCertificates(theirs.issue('n2'));

/** Listens with `near`'s certificate; `dial` calls it with another one. */
async function listening(near: LinkTls | null) {
  const refusals: string[] = [];
  const streams: ByteStream[] = [];
  const transport = new TcpTransport({
    tls: near,
    turnedAway: (remote, reason) => refusals.push(`${remote} ${reason}`),
  });
  const server = await transport.listen('127.0.0.1:0', (stream) => {
    streams.push(stream);
    stream.onData = (bytes) => stream.write(Uint8Array.from(bytes));
  });
  const dial = (tls: LinkTls | null): Promise<ByteStream> => new TcpTransport({ tls }).dial(server.address, 2000);
  return { server, dial, refusals, streams };
}

const unreachable = (reason: RegExp) => (error: unknown) => {
  assert.ok(error instanceof DialError);
  assert.equal(error.failure, 'unreachable', 'somebody is there: no evidence of death');
  assert.match(error.message, reason);
  return true;
};

test('certificates of one authority let each other in, and bytes come back as they were', async () => {
  const { server, dial, streams } = await listening(n1);
  const near = await dial(n2);
  let got = Buffer.alloc(0);
  near.onData = (bytes) => {
    got = Buffer.concat([got, bytes]);
  };
  const sent = Buffer.alloc(1_000_000, 'all sorts of bytes');
  near.write(sent);
  await eventually('all is back', () => got.length === sent.length);
  assert.ok(got.equals(sent));
  assert.equal(near.remote, server.address);
  assert.match(streams[0]!.remote, /^127\.0\.0\.1:\d+$/);
  await eventually('all is written', () => near.pendingBytes === 0);
  let closed = 0;
  streams[0]!.onClose = () => closed++;
  near.close();
  await eventually('the other end knows', () => closed === 1);
  await server.close();
});

test('a caller with a certificate of another authority gets no stream, and the reason is told', async () => {
  const { server, dial, refusals, streams } = await listening(n1);
  await assert.rejects(dial(stranger), unreachable(/certificate/));
  // It trusts us, but we do not trust it: with TLS 1.3 it learns that only afterwards.
  const near = await dial({ ...stranger, ca: n1.ca });
  let closed = 0;
  near.onClose = () => closed++;
  await eventually('it is closed', () => closed === 1);
  assert.equal(streams.length, 0);
  assert.equal(refusals.length, 2);
  assert.match(refusals[1]!, /^127\.0\.0\.1:\d+ TLS: .*(CERT|certificate|SIGNATURE)/);
  await server.close();
});

test('a caller that shows no certificate gets no stream', async () => {
  const { server, refusals, streams } = await listening(n1);
  const socket = connect({ host: '127.0.0.1', port: Number(server.address.split(':')[1]), ca: n1.ca });
  socket.on('error', () => {});
  let said = 0;
  socket.on('data', (bytes) => {
    said += bytes.length;
  });
  await new Promise((resolve) => socket.once('close', resolve));
  assert.equal(streams.length, 0);
  assert.equal(said, 0);
  assert.match(refusals.join(), /^127\.0\.0\.1:\d+ TLS: its certificate: /);
  await server.close();
});

test('a certificate for another address is not the node that was called', async () => {
  const { server, dial } = await listening(elsewhere);
  await assert.rejects(dial(n1), unreachable(/10\.9\.8\.7/));
  await server.close();
});

test('an end with TLS and one without do not meet', async () => {
  const secure = await listening(n1);
  const plain = await secure.dial(null);
  let closed = 0;
  plain.onClose = () => closed++;
  plain.write(Buffer.from('in the clear'));
  await eventually('it is closed', () => closed === 1);
  assert.equal(secure.streams.length, 0);
  assert.equal(secure.refusals.length, 1);
  await secure.server.close();
  const open = await listening(null);
  open.dial(n1).catch(() => {});
  await eventually('it says what no link understands', () => open.streams.length === 1);
  await open.server.close();
});

test('closing ends those that are not through with TLS as well', async () => {
  const { server, dial } = await listening(n1);
  const silent = await dial(null);
  let closed = 0;
  silent.onClose = () => closed++;
  await server.close();
  await eventually('it is closed', () => closed === 1);
});

test('a port on which nothing listens refuses with TLS too', async () => {
  const { server, dial } = await listening(n1);
  await server.close();
  await assert.rejects(dial(n2), { failure: 'refused' });
});

test('new certificates are shown and checked from then on, and streams that are up stay', async () => {
  const transport = new TcpTransport({ tls: n1 });
  const taken: ByteStream[] = [];
  const server = await transport.listen('127.0.0.1:0', (stream) => {
    taken.push(stream);
    stream.onData = (bytes) => stream.write(Uint8Array.from(bytes));
  });
  const early = await new TcpTransport({ tls: n2 }).dial(server.address, 2000);
  let got = '';
  early.onData = (bytes) => {
    got += Buffer.from(bytes).toString();
  };
  assert.throws(() => transport.renew({ ...stranger, key: n1.key }), /key/);
  transport.renew(stranger);
  await assert.rejects(new TcpTransport({ tls: n2 }).dial(server.address, 2000), unreachable(/certificate/));
  await new TcpTransport({ tls: stranger }).dial(server.address, 2000);
  await eventually('who has one of the new authority is let in', () => taken.length === 2);
  const far = await listening(n1);
  await assert.rejects(transport.dial(far.server.address, 2000), unreachable(/certificate/));
  early.write(Buffer.from('still here'));
  await eventually('the first goes on', () => got === 'still here');
  await server.close();
  await far.server.close();
});

test('a key that does not fit its certificate is found at once', () => {
  assert.throws(() => new TcpTransport({ tls: { ...n1, key: n2.key } }), /key/);
});

test('what the acceptor says at once is heard by who dialed, however early it comes', async () => {
  const transport = new TcpTransport({ tls: n1 });
  const server = await transport.listen('127.0.0.1:0', (stream) => stream.write(Buffer.from('first')));
  for (let i = 0; i < 20; i++) {
    const stream = await new TcpTransport({ tls: n2 }).dial(server.address, 2000);
    let got = '';
    stream.onData = (bytes) => {
      got += Buffer.from(bytes).toString();
    };
    await eventually('it is heard', () => got === 'first');
    stream.close();
  }
  await server.close();
});

test('links over TLS come up, and carry large frames', async () => {
  const near = await tcpNode('n1', 1, new TcpTransport({ tls: n1 }));
  const far = await tcpNode('n2', 2, new TcpTransport({ tls: n2 }));
  let got = 0;
  far.links.handle(0xf0, (_link, { start, end }) => {
    got += end - start;
  });
  for (const { links } of [near, far]) links.setMembers([near.member, far.member]);
  // On a machine that is very busy a link may lapse, and what it carried is lost: then once more.
  const largeMs = 20_000;
  await eventually(
    'the link is up',
    () => near.links.get('n2') !== undefined && far.links.get('n1') !== undefined,
    largeMs,
  );
  const more = (): void => near.links.get('n2')?.send(0xf0, 0, new Uint8Array(300_000));
  for (let i = 0; i < 20; i++) more();
  near.links.observe({ up: more });
  await eventually('a large frame arrived', () => got >= 300_000, largeMs);
  for (const node of [near, far]) {
    node.liveness.close();
    await node.links.close();
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ByteStream, DialError } from '../../../src/cluster/byte-stream.js';
import { TcpTransport } from '../../../src/cluster/link/tcp-transport.js';

const transport = new TcpTransport();

/** A connection, both ends. */
async function connect() {
  let accepted!: (stream: ByteStream) => void;
  const coming = new Promise<ByteStream>((resolve) => {
    accepted = resolve;
  });
  const server = await transport.listen('127.0.0.1:0', (stream) => accepted(stream));
  const near = await transport.dial(server.address, 1000);
  return { server, near, far: await coming };
}

test('bytes arrive in order, and a full stream drains', async () => {
  const { server, near, far } = await connect();
  let got = 0;
  far.onData = (bytes) => {
    for (const byte of bytes) assert.equal(byte, Math.floor(got++ / 1_000_000) & 0xff);
  };
  const drained = new Promise<void>((resolve) => {
    near.onDrain = resolve;
  });
  let more = true;
  let sent = 0;
  for (; more; sent++) more = near.write(new Uint8Array(1_000_000).fill(sent));
  assert.ok(near.pendingBytes > 0);
  await drained;
  assert.equal(near.pendingBytes, 0);
  while (got < sent * 1_000_000) await new Promise((resolve) => setTimeout(resolve, 5));
  await server.close();
});

test('the end of one side is told to the other, once', async () => {
  const { server, near, far } = await connect();
  const closes: string[] = [];
  const both = new Promise<void>((resolve) => {
    const note = (side: string) => (): void => {
      if (closes.push(side) === 2) resolve();
    };
    near.onClose = note('near');
    far.onClose = note('far');
  });
  near.close();
  near.close();
  await both;
  assert.deepEqual(closes.sort(), ['far', 'near']);
  await server.close();
});

test('a port on which nothing listens refuses, a malformed address is an error', async () => {
  const server = await transport.listen('127.0.0.1:0', () => {});
  await server.close();
  const failure = async (address: string): Promise<string> => {
    const error = await transport.dial(address, 100).then(
      () => assert.fail('connected'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof DialError);
    return error.failure;
  };
  assert.equal(await failure(server.address), 'refused');
  await assert.rejects(transport.dial('nonsense', 100), TypeError);
  await assert.rejects(
    transport.listen('127.0.0.1:99999', () => {}),
    TypeError,
  );
});

test('a taken port is an error, IPv6 addresses are written in brackets', async () => {
  const server = await transport.listen('[::1]:0', () => {});
  assert.match(server.address, /^\[::1\]:\d+$/);
  (await transport.dial(server.address, 1000)).close();
  await assert.rejects(
    transport.listen(server.address, () => {}),
    { code: 'EADDRINUSE' },
  );
  await server.close();
});

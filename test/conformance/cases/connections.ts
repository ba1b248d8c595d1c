/** Connections and channels: the handshake, frames that make no sense, closing, heartbeats. */
import assert from 'node:assert/strict';
import {
  BasicGet,
  BasicPublish,
  ChannelClose,
  ChannelOpen,
  ConnectionClose,
  ConnectionOpen,
  ConnectionTuneOk,
  ConnectionUpdateSecret,
  MethodId,
  protocolHeader,
} from '../../../src/amqp091/codec/index.js';
import { startOk } from '../../support/raw-client.js';
import { within } from '../../support/within.js';
import { type Case, wireRule } from '../case.js';
import { closed, handshake, started, tuned } from '../handshake.js';

const offered = [
  'publisher_confirms',
  'exchange_exchange_bindings',
  'basic.nack',
  'consumer_cancel_notify',
  'connection.blocked',
  'consumer_priorities',
  'authentication_failure_close',
  'per_consumer_qos',
  'direct_reply_to',
];

const handshakes: readonly Case[] = [
  ...['AMQP\0\0\x08\0', 'HTTP/1.1', 'POST / H'].map((header) =>
    handshake(
      '§4.2.2',
      `the header ${JSON.stringify(header)} is answered with ours, and the socket closed`,
      async (raw, session) => {
        raw.sendBytes(Buffer.from(header, 'latin1'));
        await closed(raw, session);
        assert.deepEqual(Buffer.concat(raw.raw).subarray(0, 8), Buffer.from(protocolHeader));
      },
    ),
  ),
  handshake('§1.4.2.1', 'start offers 0-9, PLAIN and AMQPLAIN, and en_US', async (raw) => {
    const { method } = await started(raw);
    assert.deepEqual([method.versionMajor, method.versionMinor], [0, 9]);
    const mechanisms = Buffer.from(method.mechanisms).toString().split(' ');
    for (const wanted of ['PLAIN', 'AMQPLAIN']) assert.ok(mechanisms.includes(wanted), wanted);
    assert.ok(Buffer.from(method.locales).toString().split(' ').includes('en_US'));
  }),
  ...offered.map((name) =>
    handshake('capabilities', `start offers the capability ${name}`, async (raw) => {
      const { capabilities } = (await started(raw)).method.serverProperties as {
        capabilities: Record<string, unknown>;
      };
      assert.equal(capabilities[name], true);
    }),
  ),
  handshake('§1.4.2.1', 'server properties have product, version, platform, copyright, information', async (raw) => {
    const { serverProperties } = (await started(raw)).method;
    for (const name of ['product', 'version', 'platform', 'copyright', 'information'])
      assert.equal(typeof serverProperties[name], 'string', name);
  }),
  handshake('authentication_failure_close', 'a wrong password is answered with 403', async (raw) => {
    await started(raw);
    raw.send(0, startOk('guest', 'wrong', { authentication_failure_close: true }));
    const { method } = await raw.expect(MethodId.connectionClose);
    assert.equal(method.replyCode, 403);
    assert.match(method.replyText, /^ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN/);
  }),
  handshake('§1.4.2.2', 'a wrong password without the capability closes the socket', async (raw, session) => {
    await started(raw);
    raw.send(0, startOk('guest', 'wrong', {}));
    await closed(raw, session);
    assert.deepEqual(raw.received, []);
  }),
  handshake('§1.4.2.7', 'connection.open of a vhost that is not there: 530', async (raw) => {
    await tuned(raw);
    raw.send(0, new ConnectionTuneOk(2047, 131_072, 0));
    raw.send(0, new ConnectionOpen('no-such-vhost'));
    const { method } = await raw.expect(MethodId.connectionClose);
    assert.equal(method.replyCode, 530, method.replyText);
    assert.match(method.replyText, /^NOT_ALLOWED - vhost '?no-such-vhost'? not found/);
  }),
  handshake('§4.2.2', 'the header of 0-9, 1-1-0-9, is served too', async (raw) => {
    raw.sendBytes(Buffer.from('AMQP\x01\x01\0\x09', 'latin1'));
    const { method } = await raw.expect(MethodId.connectionStart);
    assert.deepEqual([method.versionMajor, method.versionMinor], [0, 9]);
  }),
  handshake('§1.4.2.5', 'tune offers 2047 channels, frames of 128 KiB, and heartbeats of 60 s', async (raw) => {
    const { method } = await tuned(raw);
    assert.ok(method?.id === MethodId.connectionTune);
    assert.deepEqual([method.channelMax, method.frameMax, method.heartbeat], [2047, 131_072, 60]);
  }),
  handshake('§4.2.7', 'heartbeats come at half the agreed time', async (raw, session) => {
    await tuned(raw);
    raw.send(0, new ConnectionTuneOk(2047, 131_072, 1));
    raw.send(0, new ConnectionOpen('/'));
    await raw.expect(MethodId.connectionOpenOk);
    const from = performance.now();
    const beat = await within(session.patienceMs, 'a heartbeat', raw.next());
    assert.equal(beat.method, undefined);
    assert.ok(performance.now() - from < 3000);
  }),
  handshake('§4.2.7', 'who is silent for more than two heartbeats is dropped', async (raw, session) => {
    await tuned(raw);
    raw.send(0, new ConnectionTuneOk(2047, 131_072, 1));
    raw.send(0, new ConnectionOpen('/'));
    await raw.expect(MethodId.connectionOpenOk);
    await closed(raw, session);
  }),
];

/** A frame as it goes over the wire. */
function frame(type: number, channel: number, payload: readonly number[] | Uint8Array, end = 0xce): Buffer {
  const head = Buffer.alloc(7);
  head.writeUInt8(type, 0);
  head.writeUInt16BE(channel, 1);
  head.writeUInt32BE(payload.length, 3);
  return Buffer.concat([head, Buffer.from(payload), Buffer.from([end])]);
}

const emptyHeader = [0, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0];

/** Bytes that end the connection, and the code. `publish`: behind a basic.publish on channel 1. */
const spoiled: readonly { code: number; source: string; what: string; bytes: Buffer; publish?: boolean }[] = [
  {
    code: 501,
    source: '§4.2.3',
    what: 'a frame with another end than 206',
    bytes: frame(1, 1, [0, 20, 0, 20, 1], 0xcd),
  },
  { code: 501, source: '§2.3.5', what: 'a frame larger than agreed', bytes: frame(3, 1, Buffer.alloc(131_073)) },
  { code: 505, source: '§4.2.6', what: 'a content header without a method', bytes: frame(2, 1, emptyHeader) },
  { code: 505, source: '§4.2.6', what: 'a body without a method', bytes: frame(3, 1, [1]) },
  { code: 505, source: '§4.2.6', what: 'a body without a content header', bytes: frame(3, 1, [1]), publish: true },
  {
    code: 505,
    source: '§4.2.6',
    what: 'a method in the middle of a content',
    bytes: frame(1, 1, [0, 20, 0, 20, 1]),
    publish: true,
  },
  {
    code: 505,
    source: '§4.2.6.1',
    what: 'a content header of another class',
    bytes: frame(2, 1, [0, 50, ...emptyHeader.slice(2)]),
    publish: true,
  },
  {
    code: 504,
    source: '§4.2.3',
    what: 'a method on a channel that is not open',
    bytes: frame(1, 9, [0, 20, 0, 20, 1]),
  },
  {
    code: 503,
    source: '§4.2.3',
    what: 'a method of the class connection on a channel',
    bytes: frame(1, 1, [0, 10, 0, 51]),
  },
  {
    code: 504,
    source: '§4.2.3',
    what: 'a method of the class channel on channel 0',
    bytes: frame(1, 0, [0, 20, 0, 20, 1]),
  },
];

const frames = spoiled.map(({ code, source, what, bytes, publish = false }) =>
  wireRule(source, `${what} ends the connection with ${code}`, async (wire) => {
    if (publish) wire.send(new BasicPublish('', 'nowhere', false, false));
    wire.raw.sendBytes(bytes);
    const refused = await wire.closing();
    assert.deepEqual([refused.of, refused.code], ['connection', code], refused.text);
    await within(wire.session.patienceMs, 'the socket is closed', wire.raw.closed);
  }),
);

const closings: readonly Case[] = [
  wireRule(
    '§1.4.2.10',
    'connection.close is answered, each of several, and the client closes the socket',
    async (wire) => {
      for (let i = 0; i < 3; i++) {
        wire.send(new ConnectionClose(200, 'bye', 0, 0), 0);
        await wire.raw.expect(MethodId.connectionCloseOk);
      }
      assert.ok(await wire.raw.silent());
    },
  ),
  wireRule('§1.5.2.5', 'channel.close is answered, and the number is free again', async (wire) => {
    for (let i = 0; i < 3; i++) {
      await wire.call(new ChannelClose(200, 'bye', 0, 0), MethodId.channelCloseOk);
      await wire.call(new ChannelOpen(), MethodId.channelOpenOk);
    }
    await wire.channelWorks();
  }),
  wireRule('§1.5.2.1', 'channels work beside one another', async (wire) => {
    for (let channel = 2; channel <= 20; channel++) await wire.raw.openChannel(channel);
    for (let channel = 20; channel >= 2; channel--) {
      const { method } = await wire.call(new BasicGet(await wire.queue(), true), MethodId.basicGetEmpty);
      assert.ok(method);
    }
  }),
  handshake('§1.4.2.6', 'more channels than agreed end the connection with 530', async (raw) => {
    await tuned(raw);
    raw.send(0, new ConnectionTuneOk(3, 131_072, 0));
    raw.send(0, new ConnectionOpen('/'));
    await raw.expect(MethodId.connectionOpenOk);
    for (const channel of [1, 2, 3]) await raw.openChannel(channel);
    raw.send(4, new ChannelOpen());
    assert.equal((await raw.expect(MethodId.connectionClose)).method.replyCode, 530);
  }),
  ...[20_000, 3_000_000].map((size) =>
    wireRule(
      '§2.3.5',
      `frames to a client are no larger than agreed: a body of ${size} bytes`,
      async (_wire, session) => {
        const wire = await session.wire({ frameMax: 4096 });
        const queue = await wire.queue();
        await wire.selectConfirms();
        wire.publish('', queue, 'z'.repeat(size));
        await wire.confirmed(1);
        const sizes: number[] = [];
        const body = wire.raw.body.bind(wire.raw);
        wire.raw.body = (channel, bytes, start, end) => {
          sizes.push(end - start);
          body(channel, bytes, start, end);
        };
        await wire.call(new BasicGet(queue, true), MethodId.basicGetOk);
        assert.equal(
          sizes.reduce((sum, bytes) => sum + bytes, 0),
          size,
        );
        assert.ok(Math.max(...sizes) <= 4096 - 8, String(sizes.slice(0, 10)));
        assert.ok(sizes.slice(0, -1).every((bytes) => bytes > 0));
      },
    ),
  ),
  wireRule('connection.update-secret', 'connection.update-secret is answered', async (wire) => {
    const update = new ConnectionUpdateSecret(Buffer.from('guest'), 'a reason');
    await wire.call(update, MethodId.connectionUpdateSecretOk, 0);
    await wire.channelWorks();
  }),
];

export const connections: readonly Case[] = [...handshakes, ...frames, ...closings];

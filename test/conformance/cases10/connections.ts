/** Headers, SASL, open and close; what costs the connection. */
import assert from 'node:assert/strict';
import {
  Begin,
  Close,
  Descriptor,
  Disposition,
  type MapValue,
  Open,
  ProtocolId,
  SaslInit,
  SaslResponse,
} from '../../../src/amqp10/codec/index.js';
import { plain } from '../../support/raw-client10.js';
import { ScramClient } from '../../unit/security/scram-client.js';
import type { Case } from '../case.js';
import { closes, dialRule, hangsUp, openRule } from '../case10.js';

const saslHeader = '414d515003010000';
const amqpHeader = '414d515000010000';

const handshakes: readonly Case[] = [
  dialRule('AMQP 1.0 §5.3.2', 'the SASL header is answered with itself and the mechanisms', async (raw) => {
    raw.header(ProtocolId.sasl);
    assert.equal((await raw.next()).header, saslHeader);
    const { saslServerMechanisms } = await raw.expect(Descriptor.saslMechanisms);
    assert.ok(saslServerMechanisms.includes('PLAIN') && saslServerMechanisms.includes('SCRAM-SHA-256'));
    assert.ok(!saslServerMechanisms.includes('AMQPLAIN'));
  }),
  dialRule(
    'AMQP 1.0 §2.2',
    'AMQP without SASL, where nobody may be anonymous, is answered with the SASL header',
    async (raw) => {
      raw.header(ProtocolId.amqp);
      assert.equal((await raw.next()).header, saslHeader);
      await hangsUp(raw);
    },
  ),
  dialRule('AMQP 1.0 §5.3.3.6', 'a wrong password is told by the outcome, and the socket is closed', async (raw) => {
    raw.header(ProtocolId.sasl);
    await raw.expect(Descriptor.saslMechanisms);
    raw.sendSasl(plain('guest', 'wrong'));
    assert.equal((await raw.expect(Descriptor.saslOutcome)).code, 1);
    await hangsUp(raw);
  }),
  dialRule('AMQP 1.0 §5.3.3.2', 'a mechanism that is not offered is refused', async (raw) => {
    raw.header(ProtocolId.sasl);
    await raw.expect(Descriptor.saslMechanisms);
    raw.sendSasl(Object.assign(new SaslInit(), { mechanism: 'AMQPLAIN', initialResponse: Buffer.alloc(0) }));
    assert.equal((await raw.expect(Descriptor.saslOutcome)).code, 1);
  }),
  dialRule(
    'AMQP 1.0 §5.3.3.5',
    'SCRAM-SHA-256 takes a challenge, and the broker proves itself with the outcome',
    async (raw) => {
      const scram = new ScramClient('guest', 'guest');
      raw.header(ProtocolId.sasl);
      await raw.expect(Descriptor.saslMechanisms);
      raw.sendSasl(Object.assign(new SaslInit(), { mechanism: 'SCRAM-SHA-256', initialResponse: scram.first }));
      const { challenge } = await raw.expect(Descriptor.saslChallenge);
      raw.sendSasl(Object.assign(new SaslResponse(), { response: scram.final(challenge) }));
      const { code, additionalData } = await raw.expect(Descriptor.saslOutcome);
      assert.equal(code, 0);
      assert.ok(scram.isServer(additionalData ?? Buffer.alloc(0)));
    },
  ),
  dialRule('AMQP 1.0 §2.4.1', 'a client may send everything up to its first session without waiting', async (raw) => {
    raw.header(ProtocolId.sasl);
    raw.sendSasl(plain('guest', 'guest'));
    raw.sendHex(amqpHeader);
    raw.send(0, Object.assign(new Open(), { containerId: 'hasty' }));
    raw.send(0, Object.assign(new Begin(), { nextOutgoingId: 0, incomingWindow: 1, outgoingWindow: 1 }));
    for (const due of [Descriptor.saslMechanisms, Descriptor.saslOutcome, Descriptor.open, Descriptor.begin])
      await raw.expect(due);
  }),
  dialRule('AMQP 1.0 §2.4.1', 'what comes byte by byte is the same', async (raw) => {
    raw.header(ProtocolId.sasl);
    await raw.expect(Descriptor.saslMechanisms);
    raw.frames.sasl(plain('guest', 'guest'));
    for (const byte of raw.frames.output.take()) raw.socket.write(Buffer.of(byte));
    assert.equal((await raw.expect(Descriptor.saslOutcome)).code, 0);
  }),
  dialRule('AMQP 1.0 §2.4.1', 'a frame before open is answered with open and close', async (raw) => {
    await raw.logIn();
    raw.send(0, Object.assign(new Begin(), { nextOutgoingId: 0, incomingWindow: 1, outgoingWindow: 1 }));
    await raw.expect(Descriptor.open);
    await closes(raw, 'amqp:illegal-state', /begin before open/);
  }),
  dialRule('AMQP 1.0 §2.7.1', 'open says what the broker takes', async (raw) => {
    await raw.logIn();
    raw.send(0, Object.assign(new Open(), { containerId: 'c' }));
    const open = await raw.expect(Descriptor.open);
    assert.ok(open.containerId !== '' && open.maxFrameSize >= 512 && open.channelMax > 0 && open.idleTimeOut! > 0);
    assert.equal(typeof open.properties?.get('product'), 'string');
    const others = open.properties?.get('failover-server-list') as MapValue[];
    assert.ok(others.some((place) => typeof place.get('network-host') === 'string' && place.get('port') !== undefined));
  }),
  dialRule('AMQP 1.0 §2.7.1', 'a max-frame-size below 512 is refused', async (raw) => {
    await raw.logIn();
    raw.send(0, Object.assign(new Open(), { containerId: 'c', maxFrameSize: 511 }));
    const open = await raw.expect(Descriptor.open);
    assert.equal(open.properties?.get('amqp:connection-establishment-failed'), true);
    await closes(raw, 'amqp:invalid-field', /max-frame-size 511/);
  }),
  dialRule('AMQP 1.0 §2.7.1', 'a vhost that is not there is told by open and close', async (raw) => {
    await raw.logIn();
    raw.send(0, Object.assign(new Open(), { containerId: 'c', hostname: 'vhost:none' }));
    await raw.expect(Descriptor.open);
    await closes(raw, 'amqp:not-found', /vhost none not found/);
  }),
  openRule('AMQP 1.0 §2.4.3', 'close is answered with close, and the socket is closed', async (raw) => {
    raw.send(0, new Close());
    assert.equal((await raw.expect(Descriptor.close)).error, undefined);
    await hangsUp(raw);
  }),
  openRule(
    'AMQP 1.0 §2.4.5',
    'a client that asks for signs of life gets them',
    async (raw) => {
      for (let i = 0; i < 3; i++) assert.equal((await raw.next()).body, undefined);
    },
    { idleTimeOut: 300 },
  ),
  openRule('AMQP 1.0 §2.3.1', 'an extended frame header is passed over, an empty frame is no error', async (raw) => {
    raw.sendHex('00000008 02 00 0000');
    raw.sendHex('0000000c 03 00 0000 deadbeef');
    await raw.works();
  }),
];

/** Whatever comes on an open connection: the condition of the close. */
const costs: readonly [source: string, what: string, condition: string, hex: string][] = [
  ['§2.3.1', 'a frame of 7 bytes', 'amqp:connection:framing-error', '00000007 02 00 0000'],
  ['§2.3.1', 'a data offset of 1', 'amqp:connection:framing-error', '00000008 01 00 0000'],
  ['§2.3.1', 'a data offset beyond the frame', 'amqp:connection:framing-error', '00000008 03 00 0000'],
  ['§2.3.1', 'an unknown frame type', 'amqp:connection:framing-error', '00000008 02 02 0000'],
  ['§2.3', 'a frame above max-frame-size', 'amqp:connection:framing-error', '7fffffff 02 00 0000'],
  ['§5.3', 'a SASL frame behind SASL', 'amqp:connection:framing-error', '00000008 02 01 0000'],
  ['§2.8.15', 'a body that is no described value', 'amqp:decode-error', '00000009 02 00 0000 40'],
  ['§2.8.15', 'a body of a type that no frame has', 'amqp:decode-error', '0000000c 02 00 0000 00 53 24 45'],
  ['§2.8.15', 'a list cut short', 'amqp:decode-error', '0000000e 02 00 0000 00 53 11 c0 09 04'],
  ['§2.8.15', 'a field of another type', 'amqp:decode-error', '0000000f 02 00 0000 00 53 11 c0 02 01 41'],
  ['§2.8.15', 'a mandatory field that is not there', 'amqp:invalid-field', '0000000c 02 00 0000 00 53 11 45'],
  ['§2.7.1', 'a second open', 'amqp:illegal-state', '00000011 02 00 0000 00 53 10 c0 04 01 a1 01 63'],
  [
    '§2.5.1',
    'a transfer on a channel without session',
    'amqp:not-allowed',
    '00000010 02 00 0005 00 53 14 c0 03 01 52 01',
  ],
  ['§2.5.1', 'an end on a channel without session', 'amqp:not-allowed', '0000000c 02 00 0005 00 53 17 45'],
  [
    '§2.7.1',
    'a channel above channel-max',
    'amqp:connection:framing-error',
    '00000012 02 00 ffff 00 53 11 c0 05 04 40 43 43 43',
  ],
];

export const connections10: readonly Case[] = [
  ...handshakes,
  ...costs.map(([source, what, condition, hex]) =>
    openRule(`AMQP 1.0 ${source}`, `${what} closes the connection with ${condition}`, async (raw) => {
      raw.sendHex(hex);
      await closes(raw, condition);
      raw.send(0, new Close());
      await hangsUp(raw);
    }),
  ),
  openRule(
    'AMQP 1.0 §2.7.2',
    'a handle above handle-max closes the connection with amqp:connection:framing-error',
    async (raw) => {
      const { handleMax } = await raw.begin();
      raw.attachSender('/queues/q', { handle: handleMax + 1 });
      await closes(raw, 'amqp:connection:framing-error', /above handle-max/);
    },
  ),
  openRule('AMQP 1.0 §2.4.3', "what comes behind the broker's close is discarded", async (raw) => {
    raw.sendHex('0000000c 02 00 0005 00 53 17 45');
    raw.send(1, Object.assign(new Begin(), { nextOutgoingId: 0, incomingWindow: 1, outgoingWindow: 1 }));
    raw.send(1, Object.assign(new Disposition(), { role: true, first: 0 }));
    await closes(raw, 'amqp:not-allowed');
    raw.send(0, new Close());
    await hangsUp(raw);
    assert.ok(raw.isQuiet);
  }),
];

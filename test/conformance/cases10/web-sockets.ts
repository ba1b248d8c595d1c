/** AMQP over WebSocket: RFC 6455, and OASIS' binding of AMQP to it (WSB). */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { BasicGet } from '../../../src/amqp091/codec/index.js';
import { RawClient } from '../../support/raw-client.js';
import { bytes, RheaClient, textOf } from '../../support/rhea-client.js';
import { openWebSocket, rheaOver, type WebSocketAsked, webSocketStream } from '../../support/web-sockets.js';
import { within } from '../../support/within.js';
import type { Case } from '../case.js';
import type { Session } from '../session.js';

function webRule(source: string, title: string, run: (session: Session) => Promise<void>): Case {
  return { title: `WebSocket: ${title}`, source, onlyOurs: true, run };
}

const refused = (asked: WebSocketAsked, pattern: RegExp): Promise<void> =>
  assert.rejects(openWebSocket(asked), pattern);

/** Sends and receives a text by rhea. */
async function echoes(session: Session, asked: WebSocketAsked, text: string): Promise<void> {
  const client = await session.client();
  const queue = `/queues/${await client.queue()}`;
  const { patienceMs, target } = session;
  const rhea = await RheaClient.open({ port: target.port, patienceMs, more: rheaOver(asked) });
  try {
    const receiver = await rhea.receiver(queue);
    const sender = await rhea.sender(queue);
    assert.equal(await sender.send({ body: bytes(text) }), 'accepted');
    assert.equal(textOf((await receiver.take(1))[0]!), text);
    assert.deepEqual(rhea.errors, []);
  } finally {
    await rhea.close();
  }
}

export const webSockets10: readonly Case[] = [
  webRule('WSB §2.1', 'the sub-protocol amqp is agreed on', async ({ target }) => {
    const client = await openWebSocket({ at: target.port, protocols: ['other', 'amqp'] });
    assert.equal(client.protocol, 'amqp');
    client.terminate();
  }),
  webRule('WSB §2.3', 'rhea sends and receives', (session) => echoes(session, { at: session.target.port }, 'body')),
  webRule('Azure', 'its path and sub-protocol are known', (session) =>
    echoes(session, { at: session.target.port, path: '/$servicebus/websocket', protocols: ['AMQPWSB10'] }, 'body'),
  ),
  webRule('RabbitMQ', 'its path is known, and a query is no part of it', (session) =>
    echoes(session, { at: session.target.port, path: '/ws?x=1', protocols: ['binary'] }, 'body'),
  ),
  webRule('WSB §2.3', 'a message of many frames comes out as it went in', (session) =>
    echoes(session, { at: session.target.port }, 'x'.repeat(3_000_000)),
  ),
  webRule('WSB §2.4', 'frames of AMQP and messages of WebSocket need not begin together', async ({ target }) => {
    const client = await openWebSocket({ at: target.port });
    const got = once(client, 'message');
    for (const byte of Buffer.from('414d515003010000', 'hex')) client.send(Buffer.of(byte));
    const [first] = (await within(10_000, 'an answer', got)) as [Buffer];
    assert.equal(first.toString('latin1', 0, 4), 'AMQP');
    client.terminate();
  }),
  webRule('AMQP 0-9-1 §4.2.2', 'clients of 0-9-1 come in too', async (session) => {
    const client = await session.client();
    const queue = await client.queue();
    const { port } = session.target;
    const raw = await RawClient.open(port, { socket: await webSocketStream({ at: port, protocols: ['binary'] }) });
    await raw.openChannel(1);
    await client.send(queue, 'body');
    raw.send(1, new BasicGet(queue, true));
    const { body } = await raw.next();
    assert.equal(body.toString(), 'body');
    raw.socket.destroy();
  }),
  webRule('RFC 6455 §4.2.2', 'another path, and sub-protocols of others, are refused', async ({ target: { port } }) => {
    await refused({ at: port, path: '/' }, /HTTP 404: there is no \//);
    await refused({ at: port, protocols: ['mqtt'] }, /HTTP 400: none of the sub-protocols mqtt/);
  }),
  webRule('RFC 6455 §10.2', 'pages of others are refused', async ({ target: { port } }) => {
    const from = (origin: string, host?: string): WebSocketAsked => ({
      at: port,
      options: { origin, headers: host === undefined ? {} : { host } },
    });
    await refused(from('https://evil.example'), /HTTP 403: pages of https:\/\/evil\.example/);
    await refused(from(`http://evil.example:${port}`, `evil.example:${port}`), /HTTP 403/);
    (await openWebSocket(from(`http://127.0.0.1:${port}`))).terminate();
  }),
  webRule('RFC 6455 §5.6', 'text is no AMQP: close 1003', async ({ target }) => {
    const client = await openWebSocket({ at: target.port });
    client.send('AMQP');
    const [code] = (await within(10_000, 'a close', once(client, 'close'))) as [number];
    assert.equal(code, 1003);
  }),
  webRule('RFC 6455 §5.6', 'a request of HTTP in a WebSocket ends it, and nothing else', async ({ target }) => {
    const client = await openWebSocket({ at: target.port });
    const closed = once(client, 'close');
    client.send(Buffer.from('GET /amqp HTTP/1.1\r\n\r\n'));
    await within(10_000, 'a close', closed);
    (await openWebSocket({ at: target.port })).terminate();
  }),
  webRule('RFC 6455 §5.5.2', 'a ping is answered', async ({ target }) => {
    const client = await openWebSocket({ at: target.port });
    client.ping('there?');
    const [bytesBack] = (await within(10_000, 'a pong', once(client, 'pong'))) as [Buffer];
    assert.equal(bytesBack.toString(), 'there?');
    client.terminate();
  }),
  webRule('RFC 9110 §15.5.22', 'an HTTP request that asks for no upgrade is told so', async ({ target }) => {
    const socket = connect(target.port, '127.0.0.1');
    socket.write('GET /amqp HTTP/1.1\r\nHost: here\r\n\r\n');
    let said = '';
    for await (const piece of socket) said += String(piece);
    assert.match(said, /^HTTP\/1\.1 426 .*speaks AMQP/s);
  }),
];

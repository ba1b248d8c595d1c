/** AMQP over WebSocket, as clients speak it. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import rhea from 'rhea';
import { type ClientOptions, createWebSocketStream, WebSocket } from 'ws';
import { within } from './within.js';

export interface WebSocketAsked {
  /** PORT of 127.0.0.1, or the beginning of a URL. */
  at: number | string;
  path?: string;
  protocols?: string[];
  options?: ClientOptions;
}

export function urlOf({ at, path = '/amqp' }: WebSocketAsked): string {
  return `${typeof at === 'string' ? at : `ws://127.0.0.1:${at}`}${path}`;
}

/** An open WebSocket. Rejects with `HTTP <status>: <body>` if it is refused. */
export async function openWebSocket(asked: WebSocketAsked): Promise<WebSocket> {
  const { protocols = ['amqp'], options = {} } = asked;
  const client = new WebSocket(urlOf(asked), protocols, options);
  const refused = (async () => {
    const [, response] = (await once(client, 'unexpected-response')) as [unknown, IncomingMessage];
    let body = '';
    for await (const bytes of response) body += String(bytes);
    throw new Error(`HTTP ${response.statusCode}: ${body}`);
  })();
  refused.catch(() => {});
  await within(10_000, 'a WebSocket', Promise.race([once(client, 'open'), refused]));
  return client;
}

/** For clients that take any socket. */
export async function webSocketStream(asked: WebSocketAsked): Promise<Socket> {
  return createWebSocketStream(await openWebSocket(asked)) as unknown as Socket;
}

/** Options of rhea's `connect`. */
export function rheaOver(asked: WebSocketAsked): object {
  const { protocols = ['amqp'], options = {} } = asked;
  const connect = rhea.create_container().websocket_connect(WebSocket as never);
  return { connection_details: connect(urlOf(asked), protocols, options as never) };
}

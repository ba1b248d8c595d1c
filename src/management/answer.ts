/** Answers as they go out. */
import type { ServerResponse } from 'node:http';
import type { Pace } from './pace.js';
import { Done, Streamed } from './resource.js';

/** A client that takes nothing for so long is given up. */
const stallMsMax = 30_000;
/** What is gathered before it is written. */
const pieceLength = 32 * 1024;

/** @param found what a handler returned */
export async function answer(response: ServerResponse, found: unknown, pace: Pace): Promise<void> {
  if (found instanceof Streamed) await answerInParts(response, found, pace);
  else if (found instanceof Done) answerAtOnce(response, found.status, undefined, found.headers);
  else answerAtOnce(response, 200, found);
}

export function answerAtOnce(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  if (response.destroyed) return;
  const text = body === undefined ? '' : JSON.stringify(body);
  response.writeHead(status, { ...headers, ...common, 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

const common = { 'content-type': 'application/json', 'cache-control': 'no-cache' };

/** Rejects if the first part cannot be made: what comes later ends the connection, since the client has the status already. */
async function answerInParts(response: ServerResponse, { parts, headers }: Streamed, pace: Pace): Promise<void> {
  const iterator = parts[Symbol.asyncIterator]();
  try {
    let part = await iterator.next();
    if (response.destroyed) return;
    response.writeHead(200, { ...headers, ...common });
    if (response.req.method === 'HEAD') return void response.end();
    let text = '';
    for (; part.done !== true; part = await iterator.next()) {
      text += part.value;
      // Whoever asked may be gone: to write then would be an error.
      if (response.destroyed) return;
      if (text.length < pieceLength) continue;
      if (!response.write(text) && !(await drained(response))) return;
      text = '';
      if (pace.isOver) await pace.next();
    }
    if (!response.destroyed) response.end(text);
  } catch (error) {
    if (response.headersSent) response.destroy();
    throw error;
  } finally {
    await iterator.return?.();
  }
}

/** False: nobody takes it. */
function drained(response: ServerResponse): Promise<boolean> {
  if (response.destroyed) return Promise.resolve(false);
  return new Promise((resolve) => {
    const settle = (isDrained: boolean): void => {
      clearTimeout(timer);
      response.off('drain', drain);
      response.off('close', close);
      if (!isDrained) response.destroy();
      resolve(isDrained);
    };
    const drain = (): void => settle(true);
    const close = (): void => settle(false);
    const timer = setTimeout(close, stallMsMax);
    response.on('drain', drain);
    response.on('close', close);
  });
}

import type { IncomingMessage } from 'node:http';
import { HttpError } from './resource.js';

/** What a change is sent with, at most. */
const bodyBytesMax = 64 * 1024;
/** How long it may take. */
const bodyMsMax = 30_000;

/** The JSON object that a POST or PUT is sent with; {} if there is none. Rejects with HttpError. */
export async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  if (request.method !== 'POST' && request.method !== 'PUT') return {};
  requireJson(request);
  const text = await readText(request);
  if (text === '') return {};
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    throw new HttpError(400, 'bad_request', `what was sent is no JSON: ${(error as Error).message}`);
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new HttpError(400, 'bad_request', 'what was sent is no JSON object');
  return body as Record<string, unknown>;
}

/**
 * The content type is asked for so that no page in an operator's browser can send a change here without the browser asking first.
 * @throws HttpError 415
 */
export function requireJson(request: IncomingMessage): void {
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/json')
    throw new HttpError(415, 'unsupported_media_type', 'a change is sent with content-type: application/json');
}

/**
 * Hands on what comes, piece by piece. Rejects with what `take` throws, or with HttpError if it is cut off, or takes too long.
 * @param mayGoOn it may take as long as it likes, as long as something comes
 */
export async function readPieces(
  request: IncomingMessage,
  take: (piece: Buffer) => void,
  mayGoOn: boolean = false,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  try {
    // Not `for await`: to stop early would end the socket before it has its answer.
    await new Promise<void>((resolve, reject) => {
      let isRefused = false;
      const refuse = (error: Error): void => {
        isRefused = true;
        reject(error);
      };
      timer = setTimeout(() => refuse(tooSlow()), bodyMsMax);
      request.on('data', (piece: Buffer) => {
        if (isRefused) return;
        if (mayGoOn) timer!.refresh();
        try {
          take(piece);
        } catch (error) {
          refuse(error as Error);
        }
      });
      request.once('end', resolve);
      const cutOff = (): void => refuse(new HttpError(400, 'bad_request', 'the request was cut off'));
      request.once('close', cutOff);
      request.once('error', cutOff);
    });
  } finally {
    clearTimeout(timer);
  }
}

function tooSlow(): HttpError {
  const reason = `the rest of the request did not come within ${bodyMsMax / 1000} s`;
  return new HttpError(408, 'timeout', reason, { connection: 'close' });
}

async function readText(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  await readPieces(request, (part) => {
    length += part.length;
    if (length > bodyBytesMax)
      throw new HttpError(413, 'too_large', `what was sent has more than ${bodyBytesMax} bytes`);
    parts.push(part);
  });
  return Buffer.concat(parts).toString('utf8');
}

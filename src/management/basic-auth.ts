import type { IncomingMessage } from 'node:http';
import type { Authenticator } from '../security/authenticator.js';

/** HTTP Basic (RFC 7617) against the users of the broker: resolves to the user; undefined if it is none. */
export async function authorizedUser(
  request: IncomingMessage,
  authenticator: Authenticator,
): Promise<string | undefined> {
  const match = /^basic +([a-z0-9+/]+=*) *$/i.exec(request.headers.authorization ?? '');
  if (match === null) return undefined;
  const credentials = Buffer.from(match[1]!, 'base64');
  const colon = credentials.indexOf(':');
  if (colon < 0) return undefined;
  const user = credentials.subarray(0, colon).toString('utf8');
  const origin = { peerAddress: request.socket.remoteAddress ?? '', mechanism: 'BASIC' };
  return (await authenticator.authenticate(user, credentials.subarray(colon + 1), origin)) ? user : undefined;
}

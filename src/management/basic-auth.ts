import type { IncomingMessage } from 'node:http';
import { type Authenticator, type Login } from '../security/authenticator.js';
import { peerAt } from '../security/peer.js';

/** HTTP Basic (RFC 7617) against the users of the broker; undefined: nobody is named. */
export async function logIn(request: IncomingMessage, authenticator: Authenticator): Promise<Login | undefined> {
  const match = /^basic +([a-z0-9+/]+=*) *$/i.exec(request.headers.authorization ?? '');
  if (match === null) return undefined;
  const credentials = Buffer.from(match[1]!, 'base64');
  const colon = credentials.indexOf(':');
  if (colon < 0) return undefined;
  const user = credentials.subarray(0, colon).toString('utf8');
  return authenticator.logIn(user, credentials.subarray(colon + 1), peerAt(request.socket.remoteAddress ?? ''));
}

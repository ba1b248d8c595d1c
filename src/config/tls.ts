/** TLS for clients: where it is listened for, and the settings `tls-...`. */
import type { ClientCheck, LoginPart, TlsOptions } from '../security/tls-options.js';
import { type Endpoint, parseEndpoint } from './endpoint.js';

/** As they were written; undefined: not at all. */
export interface RawTlsSettings {
  certificate?: string | undefined;
  key?: string | undefined;
  ca?: string | undefined;
  clients?: ClientCheck | undefined;
  'login-from'?: LoginPart | undefined;
}

/** Where something is listened for over TLS: HOST:PORT; `on`: beside the plain port, on its usual one; `off`. */
export type TlsPlace = Endpoint | 'on' | 'off';

/** Throws RangeError. */
export function parseTlsPlace(written: string): TlsPlace {
  return written === 'on' || written === 'off' ? written : parseEndpoint(written);
}

/** @param beside where the same is listened for in the clear, if it is. @param usualPort for `on` */
export function tlsEndpoint(place: TlsPlace, beside: Endpoint | null, usualPort: number): Endpoint | null {
  if (place === 'off') return null;
  return place === 'on' ? { host: beside?.host ?? '127.0.0.1', port: usualPort } : place;
}

/** Puts them together; null: nothing is listened for over TLS. Throws RangeError, which names the setting, if they do not fit. */
export function tlsSettings(isUsed: boolean, raw: RawTlsSettings): TlsOptions | null {
  const { certificate, key, ca, clients = 'none', 'login-from': loginFrom } = raw;
  if (!isUsed) {
    const [name] = Object.entries(raw).find(([, value]) => value !== undefined) ?? [];
    if (name !== undefined)
      throw new RangeError(`tls-${name}: nothing is listened for over TLS: say amqps or https too`);
    return null;
  }
  if (certificate === undefined || key === undefined)
    throw new RangeError(
      `tls-${certificate === undefined ? 'certificate' : 'key'}: its file is needed for amqps and https`,
    );
  if (clients !== 'none' && ca === undefined)
    throw new RangeError("tls-ca: the authority that clients' certificates must be from is needed with tls-clients");
  if (clients === 'none' && loginFrom !== undefined)
    throw new RangeError('tls-login-from: no client is asked for a certificate: say tls-clients: request or require');
  return { files: { certificate, key, ca }, clients, loginFrom: loginFrom ?? 'distinguished-name' };
}

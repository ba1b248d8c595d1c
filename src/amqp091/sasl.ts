/** The SASL mechanisms that 0-9-1 clients use: two that send name and password in one go (§2.2.4: no challenge), and the certificate's name. */
import { ByteReader } from '../wire/byte-reader.js';
import { textOrUndefined } from '../wire/utf8.js';
import { readTableFields } from './codec/index.js';

const mechanisms = 'PLAIN AMQPLAIN';

/** Its user is whom the client's certificate names, whatever the response says: some clients send something. */
export const external = 'EXTERNAL';

/** What a client is offered. @param certificateName whom its certificate names; undefined: nobody */
export function mechanismsFor(certificateName: string | undefined): string {
  return certificateName === undefined ? mechanisms : `${mechanisms} ${external}`;
}

export interface Credentials {
  user: string;
  password: Uint8Array;
}

/** The credentials in a start-ok's response; undefined if the mechanism is unknown, null if the response makes no sense. */
export function readCredentials(mechanism: string, response: Uint8Array): Credentials | null | undefined {
  if (mechanism === 'PLAIN') return plain(response);
  if (mechanism === 'AMQPLAIN') return amqplain(response);
  return undefined;
}

/** RFC 4616: authorization identity, NUL, user, NUL, password. */
function plain(response: Uint8Array): Credentials | null {
  const first = response.indexOf(0);
  const second = first < 0 ? -1 : response.indexOf(0, first + 1);
  if (second < 0 || response.indexOf(0, second + 1) >= 0) return null;
  const user = textOrUndefined(response, first + 1, second);
  return user === undefined ? null : { user, password: response.slice(second + 1) };
}

/** A field table without its length: LOGIN and PASSWORD, long strings. */
function amqplain(response: Uint8Array): Credentials | null {
  try {
    const fields = readTableFields(new ByteReader(response));
    const { LOGIN: user, PASSWORD: password } = fields;
    if (typeof user !== 'string') return null;
    if (typeof password === 'string') return { user, password: new TextEncoder().encode(password) };
    return password instanceof Uint8Array ? { user, password } : null;
  } catch {
    return null;
  }
}

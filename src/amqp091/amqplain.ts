import { type CheckPassword, type Mechanism, passwordMechanism } from '../security/sasl/mechanism.js';
import { encodeText } from '../wire/utf8.js';
import { ByteReader } from '../wire/byte-reader.js';
import { readTableFields } from './codec/index.js';

/** AMQP 0-9-1's own mechanism: name and password in a field table. */
export function amqplain(check: CheckPassword): Mechanism {
  return passwordMechanism('AMQPLAIN', read, check);
}

/** A field table without its length: LOGIN and PASSWORD, long strings. */
function read(response: Uint8Array): { user: string; password: Uint8Array } | undefined {
  try {
    const { LOGIN: user, PASSWORD: password } = readTableFields(new ByteReader(response));
    if (typeof user !== 'string') return undefined;
    if (typeof password === 'string') return { user, password: encodeText(password) };
    return password instanceof Uint8Array ? { user, password } : undefined;
  } catch {
    return undefined;
  }
}

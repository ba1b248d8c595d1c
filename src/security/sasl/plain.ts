import { textOrUndefined } from '../../wire/utf8.js';
import { type CheckPassword, type Mechanism, passwordMechanism } from './mechanism.js';

/** RFC 4616. */
export function plain(check: CheckPassword): Mechanism {
  return passwordMechanism('PLAIN', read, check);
}

/** Authorization identity, which nobody here has, NUL, user, NUL, password. */
function read(response: Uint8Array): { user: string; password: Uint8Array } | undefined {
  const first = response.indexOf(0);
  const second = first < 0 ? -1 : response.indexOf(0, first + 1);
  if (second < 0 || response.indexOf(0, second + 1) >= 0) return undefined;
  const user = textOrUndefined(response, first + 1, second);
  return user === undefined ? undefined : { user, password: response.slice(second + 1) };
}

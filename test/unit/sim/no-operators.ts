/** What operators ask for, as a broker takes it that has neither users nor policies. */
import { Refusal, RefusedError } from '../../../src/base/errors.js';

/** Users and vhosts are not known to it, as to a young cluster. */
export class NoAccess {
  setUser: () => Promise<never> = refused;
  deleteUser: () => Promise<never> = refused;
  setPermission: () => Promise<never> = refused;
  setVhost: () => Promise<never> = refused;
  deleteVhost: () => Promise<never> = refused;
}

function refused(): Promise<never> {
  const text = 'users cannot be changed while the cluster speaks protocol version 2';
  return Promise.reject(new RefusedError(Refusal.preconditionFailed, text));
}

/** It has no settings: whatever is asked of them is answered, and means nothing. */
export class NoPolicies {
  set(): Promise<boolean> {
    return Promise.resolve(true);
  }
  clear(): Promise<void> {
    return Promise.resolve();
  }
}

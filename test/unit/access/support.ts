import { Hashing } from '../../../src/model/access/objects.js';
import type { UserDescription } from '../../../src/model/access/operations.js';
import { InstantWiring } from '../model-wiring/support.js';

export function user(name: string, fields: Partial<UserDescription> = {}): UserDescription {
  return { name, tags: [], hashing: Hashing.sha256, hash: 'x', scram: '', ...fields };
}

/** A cluster that has its first user, guest. */
export function foundedWiring(): InstantWiring {
  const wiring = new InstantWiring();
  wiring.version = 3;
  wiring.done({ op: 'found', users: [user('guest', { tags: ['administrator'] })] });
  return wiring;
}

import { AccessTables } from '../../../src/model/access/access-tables.js';
import { type AccessObject, type FoundedObject, Hashing, type UserObject } from '../../../src/model/access/objects.js';
import { Realm, type RealmOptions } from '../../../src/security/realm.js';

export const text = (written: string): Uint8Array => Buffer.from(written);

/** Tables of a cluster that has users of its own. */
export class TestTables extends AccessTables {
  readonly founding: FoundedObject;
  private position = 0;

  constructor() {
    super();
    this.founding = this.set({ kind: 'founded', position: 0 });
  }

  set<T extends AccessObject>(object: T): T {
    const placed = { ...object, position: ++this.position };
    this.add(placed);
    return placed;
  }

  person(name: string, fields: Partial<UserObject> = {}): UserObject {
    return this.set({
      kind: 'user',
      position: 0,
      name,
      tags: [],
      hashing: Hashing.sha256,
      hash: '',
      scram: '',
      ...fields,
    });
  }
}

export function realmOf(access: AccessTables, options: Partial<RealmOptions> = {}): Realm {
  return new Realm({ access, own: new Map(), first: new Map(), isSettled: () => true, ...options });
}

/** The arithmetic of coordinator entries, common to the engines that keep their own map. Pure. */
import type { Change, Entry, SwapResult } from './coordinator.js';

export type Entries = ReadonlyMap<string, Entry>;

/**
 * Tries `changes` on `entries`, which is changed only if all of them hold. Changed keys get `version`, which must be higher
 * than any version used before: so a version is never used again, not even by a key that was deleted in between.
 */
export function applySwap(entries: Map<string, Entry>, changes: readonly Change[], version: number): SwapResult {
  let ok = true;
  for (const change of changes) if ((entries.get(change.key)?.version ?? 0) !== change.expect) ok = false;
  if (ok) {
    for (const { key, value } of changes) {
      if (value === null) entries.delete(key);
      else entries.set(key, { key, value, version });
    }
  }
  return { ok, entries: changes.map(({ key }) => entries.get(key) ?? absent(key)) };
}

/** Throws a TypeError if a swap names a key twice: "all or nothing" has no meaning for it. */
export function checkChanges(changes: readonly Change[]): void {
  if (new Set(changes.map((change) => change.key)).size !== changes.length) {
    throw new TypeError(`a swap names a key twice: ${changes.map((change) => change.key).join(', ')}`);
  }
}

/** The entries below `prefix`, by key. */
export function entriesUnder(entries: Entries, prefix: string): Entry[] {
  const found: Entry[] = [];
  for (const entry of entries.values()) if (entry.key.startsWith(prefix)) found.push(entry);
  return found.sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** What changed from `before` to `after`, in the order of the changes; deleted keys first. */
export function changedEntries(before: Entries, after: Entries): Entry[] {
  const changed: Entry[] = [];
  for (const key of before.keys()) if (!after.has(key)) changed.push(absent(key));
  const newer: Entry[] = [];
  for (const entry of after.values()) if (before.get(entry.key)?.version !== entry.version) newer.push(entry);
  newer.sort((a, b) => a.version - b.version);
  return changed.concat(newer);
}

function absent(key: string): Entry {
  return { key, value: '', version: 0 };
}

/** What every question of an operator begins with: the map as it is now, and the node that it is about. */
import { Refusal, RefusedError } from '../base/errors.js';
import type { ClusterMap } from './cluster-map.js';
import type { Member, Versioned } from './map.js';

/** Resolves when the map has everything that was written before. Rejects with RefusedError, `internalError`, if the coordinator does not answer. */
export async function refreshed(map: ClusterMap): Promise<void> {
  await map.refresh().catch((error: unknown) => {
    throw new RefusedError(Refusal.internalError, `the coordinator does not answer: ${String(error)}`);
  });
}

/** Throws RefusedError, `notFound`. */
export function memberOf(map: ClusterMap, node: string): Versioned<Member> {
  const member = map.members.get(node);
  if (member !== undefined) return member;
  const known = [...map.members.keys()].sort().join(', ');
  throw new RefusedError(Refusal.notFound, `there is no node ${node}: there are ${known}`);
}

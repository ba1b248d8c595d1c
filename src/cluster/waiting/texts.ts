/** Waiting groups in words. */
import { type GroupRecord, systemGroup } from '../map.js';
import { byWorth, type Candidate } from './standing.js';
import type { GroupWait, WaitReason } from './waiting-groups.js';

const reasons: Record<WaitReason, string> = {
  down: 'not up',
  'other-store': 'up, with another data folder',
  damaged: 'up, its journal is damaged',
  'unfinished-join': 'up, a join of it was not finished',
};

/** `n1 (not up) or n2 (up, its journal is damaged)`. */
export function describeWait(wait: Pick<GroupWait, 'for'>): string {
  return wait.for.map(({ node, why }) => `${node} (${reasons[why]})`).join(' or ');
}

export function describeGroup(group: number): string {
  return group === systemGroup ? 'the system group' : `group ${group}`;
}

/** `system, 1-3, 7`. */
export function describeGroups(groups: readonly number[]): string {
  const parts: string[] = [];
  const sorted = [...groups].sort((a, b) => a - b);
  for (let i = 0; i < sorted.length; ) {
    const first = sorted[i]!;
    let last = first;
    if (first === systemGroup) i++;
    else while (i < sorted.length && sorted[i]! <= last + 1) last = sorted[i++]!;
    const name = first === systemGroup ? 'system' : String(first);
    parts.push(last === first ? name : `${name}-${last}`);
  }
  return parts.join(', ');
}

/** What the candidate has, and what it may lack. */
export function describeLoss(record: GroupRecord, wait: GroupWait, candidate: Candidate): string {
  const { replica, epoch, committed, queues, joining, damaged } = candidate;
  const has =
    epoch === 0
      ? `${replica.node} has nothing of it`
      : `${replica.node} has it as of epoch ${epoch}, up to event ${committed % 2 ** 32} of epoch ${Math.floor(committed / 2 ** 32)}, with ${queues} queues`;
  const more = wait.candidates.filter((other) => byWorth(other, candidate) < 0).map((other) => other.replica.node);
  const flaws = [
    joining ? ', and was being made equal to another replica when that was interrupted' : '',
    damaged ? ', and its journal is damaged' : '',
    more.length > 0 ? `; ${more.join(', ')} has more` : '',
  ].join('');
  return (
    `${describeGroup(record.group)} is in epoch ${record.epoch}, its in-sync set is ${describeWait(wait)}; ${has}${flaws}. ` +
    `What was confirmed and ${replica.node} does not have is lost, what was consumed and it still has comes again, and what others have beyond it is dropped when they join. ` +
    'Should a member of the in-sync set run after all, cut off from here, it goes on, and what it confirms is lost too: make sure that it is stopped'
  );
}

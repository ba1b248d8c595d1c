/**
 * The arguments that give a queue priorities, and shares to them. `x-max-priority` has the levels 0 to its value. `qpid.priorities` is
 * the number of levels, which lie around the priority 5, as in Qpid: of 4 levels the lowest is for priorities up to 3, the highest for 6
 * and more.
 *
 * A level's share (`x-fair-share-N`, else `x-fair-share`; 0 = no limit) is how many of its messages go out in a row, at most, while
 * other levels have some.
 */
import type { ReplicaOptions } from '../../log/replica-options.js';
import type { Arguments, ArgumentValue } from '../broker.js';
import { priorityMax } from '../queue/lane-index.js';
import { type Check, integer } from './argument-checks.js';
import { argument } from './arguments.js';

const levelsArgument = 'qpid.priorities';
const shareArguments = ['x-fair-share', 'qpid.fairshare'];
const levelShare = /^(?:x-fair-share|qpid\.fairshare)-(0|[1-9]\d{0,2})$/;
/** Where Qpid's levels lie. */
const middle = 5;

const checkShare = integer(0, 0xffff_ffff);

export const priorityChecks: readonly (readonly [argument: string, check: Check])[] = [
  ['x-max-priority', integer(0, priorityMax)],
  [levelsArgument, integer(1, priorityMax + 1)],
  ...shareArguments.map((key) => [key, checkShare] as const),
];

/** The check for the share of one level; undefined: the argument is none. */
export function levelShareCheck(key: string): Check | undefined {
  return levelShare.test(key) ? checkShare : undefined;
}

/** As replicas know the levels: `priorities` is the highest one; without, there is one level only. */
export function priorityLevels(table: Arguments): Pick<ReplicaOptions, 'priorities' | 'base'> {
  const own = number(argument(table, 'x-max-priority'));
  const levels = number(argument(table, levelsArgument));
  const top = own ?? (levels ?? 1) - 1;
  if (top === 0) return {};
  const base = own === undefined ? middle - Math.min(middle, Math.ceil(levels! / 2)) : 0;
  return base === 0 ? { priorities: top } : { priorities: top, base };
}

/** By level; undefined: there are no shares, higher levels always go first. */
export function fairShares(table: Arguments): readonly number[] | undefined {
  const keys = Object.keys(table);
  if (!keys.some(isShare)) return undefined;
  const { priorities = 0 } = priorityLevels(table);
  const all = shareArguments.map((key) => number(argument(table, key))).find((one) => one !== undefined) ?? 0;
  const shares = new Array<number>(priorities + 1).fill(all);
  for (const key of keys) {
    const level = levelOf(key);
    if (level <= priorities) shares[level] = number(argument(table, key))!;
  }
  return shares.some((share) => share > 0) ? shares : undefined;
}

/** What is wrong with the shares that the arguments give: which argument, and why; undefined: nothing. */
export function shareProblem(table: Arguments): { key: string; reason: string } | undefined {
  const { priorities = 0 } = priorityLevels(table);
  for (const key of Object.keys(table)) {
    if (!isShare(key)) continue;
    if (priorities === 0) return { key, reason: "it needs 'x-max-priority' or 'qpid.priorities'" };
    if (levelOf(key) > priorities && levelShare.test(key))
      return { key, reason: `the queue's highest level is ${priorities}` };
  }
  return undefined;
}

function isShare(key: string): boolean {
  return shareArguments.includes(key) || levelShare.test(key);
}

/** Infinity: the argument is not about one level. */
function levelOf(key: string): number {
  return Number(levelShare.exec(key)?.[1] ?? Number.POSITIVE_INFINITY);
}

function number(value: ArgumentValue | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}

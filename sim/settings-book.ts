/** What clients have asked of the settings of queues, and when: the reference for what may hold for a publish. */
import { Pattern } from '../src/model/policy/pattern.js';

/** Policies are few, and their names say which goes first. */
export interface BookedPolicy {
  readonly name: string;
  readonly pattern: string;
  /** Undefined: it says nothing of that. */
  readonly minInSync?: number;
}

interface Change {
  readonly askedAt: number;
  /** Infinity while it is not answered. */
  doneAt: number;
  /** In order of their priority. */
  readonly policies: readonly BookedPolicy[];
}

export class SettingsBook {
  /** Tags of users by name, '' of deleted ones; whether vhosts are there. As they were asked for last, and answered. */
  readonly users: Map<string, string> = new Map();
  readonly vhosts: Map<string, boolean> = new Map();
  /** By queue: the argument `x-min-in-sync`. */
  readonly minInSync: Map<string, number> = new Map();
  /** By queue: replicas that it asks for. */
  readonly replicas: Map<string, number> = new Map();
  private readonly changes: Change[] = [{ askedAt: 0, doneAt: 0, policies: [] }];
  /** An answer was lost: what was asked may be carried out later than what comes after. */
  private uncertainFrom = Number.POSITIVE_INFINITY;
  readonly minInSyncDefault: number;

  constructor(minInSyncDefault: number) {
    this.minInSyncDefault = minInSyncDefault;
  }

  /** Returns what is to be called when it is answered; `refused`: nothing was changed. */
  asked(
    now: number,
    policies: readonly BookedPolicy[],
  ): (now: number, outcome: { uncertain: boolean; refused: boolean }) => void {
    const change: Change = { askedAt: now, doneAt: Number.POSITIVE_INFINITY, policies };
    this.changes.push(change);
    return (doneAt, { uncertain, refused }) => {
      if (refused) this.changes.splice(this.changes.indexOf(change), 1);
      change.doneAt = doneAt;
      if (uncertain) this.uncertainFrom = Math.min(this.uncertainFrom, change.askedAt);
    };
  }

  /** The least min-in-sync that may have been in effect for the queue at a time from `since` to `now`. */
  leastMinInSync(queue: string, since: number, now: number): number {
    const own = this.minInSync.get(queue);
    if (own !== undefined) return own;
    if (now >= this.uncertainFrom) return 1;
    let least = Number.POSITIVE_INFINITY;
    this.changes.forEach((change, index) => {
      const until = this.changes[index + 1]?.doneAt ?? Number.POSITIVE_INFINITY;
      if (change.askedAt > now || until < since) return;
      const policy = change.policies.find(({ pattern }) => new Pattern(pattern).matches(queue));
      least = Math.min(least, policy?.minInSync ?? this.minInSyncDefault);
    });
    return Math.min(least, this.replicas.get(queue) ?? least);
  }
}

/**
 * Which protocol version the cluster speaks: the lowest of its members', and never less than before. It goes up in two steps, so
 * that whatever is written can be read by everybody who may ever read it:
 *
 *   every member speaks v     → versionFloor = v: who speaks less does not enter any more
 *   each node sees the floor  → its journal is marked, on disk: older programs do not open it; its member entry says so
 *   every member is marked    → version = v: the features of v are used
 *
 * Members that are down count: they come back. Both steps are made by the system group's primary, from one reading of the map, by
 * compare-and-set of an entry that everybody who enters changes too (Membership.enter).
 */
import type { Clock, Timer } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { ClusterMap } from './cluster-map.js';
import type { Coordinator } from './coordinator/coordinator.js';
import { type ClusterConfig, MapKey, type Member, parseConfig, parseEntry, versionsOf } from './map.js';
import type { OwnMember } from './own-member.js';

const checkMs = 500;

export interface VersionKeeperOptions {
  node: string;
  map: ClusterMap;
  coordinator: Coordinator;
  entry: OwnMember;
  clock: Clock;
  logger: Logger;
  /** Marks the journal; resolves when that is on disk. */
  raiseFormat(format: number): Promise<void>;
  /** This node leads the system group. */
  leads(): boolean;
}

export class VersionKeeper {
  private readonly options: VersionKeeperOptions;
  private timer: Timer | undefined;
  private busy = false;
  private closed = false;

  constructor(options: VersionKeeperOptions) {
    this.options = options;
  }

  start(): void {
    const { map, clock } = this.options;
    map.listen({ groupChanged: () => {}, memberChanged: () => this.look(), configChanged: () => this.look() });
    this.timer = clock.every(checkMs, () => this.look());
    this.look();
  }

  close(): void {
    this.closed = true;
    this.timer?.cancel();
  }

  /** What fails, or finds that the map has changed, is tried again at the next look. */
  private look(): void {
    if (this.busy || this.closed || !this.somethingToDo()) return;
    this.busy = true;
    this.act().then(
      (done) => {
        this.busy = false;
        if (done) this.look();
      },
      (error: unknown) => {
        this.busy = false;
        this.options.logger.debug('the protocol version is not raised yet', { error: String(error) });
      },
    );
  }

  private somethingToDo(): boolean {
    const { map, leads } = this.options;
    return this.mustMark() || (leads() && next(map.config, members(map)) !== undefined);
  }

  private mustMark(): boolean {
    const { map, node } = this.options;
    const own = map.members.get(node)?.value;
    return own !== undefined && (own.format ?? 1) < map.config.versionFloor;
  }

  /** Takes one step. Returns whether it was taken. */
  private async act(): Promise<boolean> {
    const { map, entry, raiseFormat } = this.options;
    if (!this.mustMark()) return await this.raise();
    const format = map.config.versionFloor;
    await raiseFormat(format);
    await entry.change((member) => ({ ...member, format: Math.max(format, member.format ?? 1) }));
    return true;
  }

  private async raise(): Promise<boolean> {
    const { coordinator, logger } = this.options;
    const entries = await coordinator.read('');
    const written = entries.find((entry) => entry.key === MapKey.cluster);
    if (written === undefined) return false;
    const found = entries.filter((entry) => entry.key.startsWith(MapKey.member('')));
    const step = next(
      parseConfig(written),
      found.map((entry) => parseEntry<Member>(entry).value),
    );
    if (step === undefined) return false;
    // What a newer program may have added stays.
    const value = JSON.stringify({ ...(JSON.parse(written.value) as object), ...step });
    const result = await coordinator.swap([{ key: MapKey.cluster, expect: written.version, value }]);
    if (result.ok && step.version !== undefined)
      logger.info('the cluster speaks a newer protocol version from now on', { version: step.version });
    return result.ok;
  }
}

function members(map: ClusterMap): Member[] {
  return [...map.members.values()].map((known) => known.value);
}

/** The next step; undefined: there is none now. */
function next(config: ClusterConfig, all: readonly Member[]): Partial<ClusterConfig> | undefined {
  if (all.length === 0) return undefined;
  const spoken = Math.min(...all.map((member) => versionsOf(member).max));
  if (spoken > config.versionFloor) return { versionFloor: spoken };
  const marked = all.every((member) => (member.format ?? 1) >= config.versionFloor);
  return marked && config.versionFloor > config.version ? { version: config.versionFloor } : undefined;
}

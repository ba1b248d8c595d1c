/**
 * Groups that nobody may lead: their primary is gone, and of the members of their last in-sync set none is up that could be
 * elected (rule 12). Such a group waits. It is said for whom, and why for each, in the log and the report; and what the nodes
 * have that are up, should the operator decide not to wait (override.ts).
 */
import type { Clock, Timer } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { ClusterMap } from '../cluster-map.js';
import type { Frame } from '../link/frame.js';
import { FrameType } from '../link/frame-types.js';
import type { Link } from '../link/link.js';
import type { Links } from '../link/links.js';
import type { Liveness } from '../liveness/liveness.js';
import { type GroupRecord, isLocalGroup, type Replica, sameReplica, systemGroup } from '../map.js';
import type { Rivals } from '../replication/context.js';
import { readJson, sendJson } from '../replication/frames.js';
import type { Replication } from '../replication/replication.js';
import { byWorth, type Candidate, type Standing, standingOf } from './standing.js';
import { describeGroups, describeWait } from './texts.js';

/** Why a member of the in-sync set cannot be elected. */
export type WaitReason = 'down' | 'other-store' | 'damaged' | 'unfinished-join';

export interface GroupWait {
  group: number;
  /** The members of the last in-sync set. */
  for: { node: string; why: WaitReason }[];
  /** The nodes that are up and have something of it, best first. */
  candidates: Candidate[];
  /** Nodes that are to have a replica, may be up, and have not said what they have. */
  silent: string[];
}

/** What nodes tell each other of groups that wait. */
interface StandingsMessage {
  standings: Standing[];
  /** What the sender wants to hear about. */
  wanted: number[];
}

/** What a node has said of its groups, and when. */
interface Heard {
  replica: Replica;
  standings: Map<number, { at: number; standing: Standing }>;
}

const periodMs = 1000;
/** What a node said longer ago is not believed any more. */
const staleMs = 5000;
const repeatLogMs = 60_000;

export interface WaitingSources {
  readonly self: Replica;
  readonly map: ClusterMap;
  readonly liveness: Liveness;
  readonly replication: Replication;
  readonly links: Links;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class WaitingGroups {
  private readonly sources: WaitingSources;
  private readonly heard = new Map<string, Heard>();
  private readonly timer: Timer;
  /** What was found a period ago, and what was logged, by group. */
  private found = new Map<number, string>();
  private logged = new Map<number, string>();
  private loggedAt = Number.NEGATIVE_INFINITY;

  constructor(sources: WaitingSources) {
    this.sources = sources;
    sources.links.handle(FrameType.standings, (link, frame) => this.hear(link, frame));
    this.timer = sources.clock.every(periodMs, () => this.tick());
  }

  /** Undefined: somebody leads the group, or will soon. */
  of(group: number): GroupWait | undefined {
    const record = this.sources.map.groups.get(group)?.value;
    if (record === undefined || isLocalGroup(group) || !this.isGone(record.primary)) return undefined;
    const awaited: GroupWait['for'] = [];
    for (const member of record.inSync) {
      const why = this.isGone(member) ? this.whyNot(record, member) : undefined;
      if (why === undefined) return undefined;
      awaited.push({ node: member.node, why });
    }
    const candidates = this.candidates(group);
    return { group, for: awaited, candidates, silent: this.silent(record, candidates) };
  }

  /** Rule 12: what this node's rivals have, should all be restarted. Whoever has not said it is asked. */
  rivals(record: GroupRecord): Rivals {
    const { self, map, replication } = this.sources;
    const own = replication.replicas.get(record.group)?.log.committed ?? 0;
    const candidates = this.candidates(record.group);
    let unknown = false;
    for (const entry of record.inSync) {
      if (entry.node === self.node) continue;
      const why = this.whyNot(record, entry);
      if (why === 'down') unknown = true;
      if (why !== undefined) continue;
      const member = map.members.get(entry.node)!.value;
      const said = candidates.find(({ replica }) => sameReplica(replica, member));
      if (said !== undefined && said.committed > own) return { ahead: true, unknown };
      if (said !== undefined) continue;
      unknown = true;
      this.ask(entry.node, record.group);
    }
    return { ahead: false, unknown };
  }

  private ask(node: string, group: number): void {
    const { links } = this.sources;
    const link = links.get(node);
    const message: StandingsMessage = { standings: this.standings([group]), wanted: [group] };
    if (link !== undefined) sendJson(link, FrameType.standings, systemGroup, message);
  }

  all(): GroupWait[] {
    const waits: GroupWait[] = [];
    for (const group of this.sources.map.groups.keys()) {
      const wait = this.of(group);
      if (wait !== undefined) waits.push(wait);
    }
    return waits.sort((a, b) => a.group - b.group);
  }

  close(): void {
    this.timer.cancel();
  }

  private isGone(replica: Replica): boolean {
    if (sameReplica(replica, this.sources.self)) return false;
    this.sources.liveness.learn(replica);
    return this.sources.liveness.mayDepose(replica.node, replica.boot);
  }

  /** Why a member whose boot of then is gone is not elected in a later one; undefined: it may be, or nobody can tell yet. */
  private whyNot(record: GroupRecord, entry: Replica): WaitReason | undefined {
    const member = this.sources.map.members.get(entry.node)?.value;
    if (member === undefined || member.boot === entry.boot || this.isGone(member)) return 'down';
    if (member.store !== entry.store) return 'other-store';
    if (member.damaged === true) return 'damaged';
    const standing = this.candidates(record.group).find(({ replica }) => sameReplica(replica, member));
    return standing?.joining === true ? 'unfinished-join' : undefined;
  }

  private candidates(group: number): Candidate[] {
    const { self, replication, clock, links } = this.sources;
    const candidates: Candidate[] = [];
    const own = replication.replicas.get(group);
    if (own !== undefined) candidates.push({ ...standingOf(own), replica: self });
    for (const { replica, standings } of this.heard.values()) {
      const said = standings.get(group);
      if (said === undefined || clock.now() - said.at > staleMs) continue;
      if (links.get(replica.node)?.peer.boot === replica.boot) candidates.push({ ...said.standing, replica });
    }
    return candidates.sort(byWorth);
  }

  private silent({ replicas }: GroupRecord, candidates: readonly Candidate[]): string[] {
    return replicas.filter((node) => {
      const member = this.sources.map.members.get(node)?.value;
      if (member === undefined || this.isGone(member)) return false;
      return !candidates.some(({ replica }) => sameReplica(replica, member));
    });
  }

  private tick(): void {
    const waits = this.all();
    this.tell(waits);
    this.log(waits);
  }

  private tell(waits: readonly GroupWait[]): void {
    if (waits.length === 0) return;
    const wanted = waits.map(({ group }) => group);
    const message: StandingsMessage = { standings: this.standings(wanted), wanted };
    for (const link of this.sources.links.all()) sendJson(link, FrameType.standings, systemGroup, message);
  }

  private standings(groups: readonly number[]): Standing[] {
    return groups
      .map((group) => this.sources.replication.replicas.get(group))
      .filter((replica) => replica !== undefined)
      .map(standingOf);
  }

  private hear(link: Link, { bytes, start, end }: Frame): void {
    const { node, store, boot } = link.peer;
    const message = readJson<StandingsMessage>(bytes, start, end);
    let heard = this.heard.get(node);
    if (heard?.replica.boot !== boot) heard = { replica: { node, store, boot }, standings: new Map() };
    this.heard.set(node, heard);
    const at = this.sources.clock.now();
    for (const standing of message.standings) heard.standings.set(standing.group, { at, standing });
    if (message.wanted.length === 0) return;
    // Whoever asks may be the first to know that a group waits.
    const answer: StandingsMessage = { standings: this.standings(message.wanted), wanted: [] };
    sendJson(link, FrameType.standings, systemGroup, answer);
  }

  /** When it has been so for a period, when it changes, and now and then. */
  private log(waits: readonly GroupWait[]): void {
    const { clock, logger } = this.sources;
    const now = new Map(waits.map((wait) => [wait.group, describeWait(wait)]));
    const lasting = new Map([...now].filter(([group, text]) => this.found.get(group) === text));
    this.found = now;
    const over = [...this.logged.keys()].filter((group) => !now.has(group));
    if (over.length > 0) logger.info('groups wait no more', { groups: describeGroups(over) });
    for (const group of over) this.logged.delete(group);
    const again = clock.now() - this.loggedAt >= repeatLogMs;
    const byText = new Map<string, number[]>();
    for (const [group, text] of lasting) {
      if (!again && this.logged.get(group) === text) continue;
      this.logged.set(group, text);
      byText.set(text, [...(byText.get(text) ?? []), group]);
    }
    if (byText.size > 0) this.loggedAt = clock.now();
    for (const [text, groups] of byText)
      logger.warn('groups have no primary, and wait for a member of their last in-sync set', {
        groups: describeGroups(groups),
        waitFor: text,
      });
  }
}

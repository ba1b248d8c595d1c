import type { Clock, Timer } from '../base/clock.js';
import type { Frame } from './link/frame.js';
import { FrameType } from './link/frame-types.js';
import type { Links } from './link/links.js';
import { systemGroup } from './map.js';
import { readJson, sendJson } from './replication/frames.js';
import type { JoinStatus } from './replication/join-progress.js';
import type { Replication } from './replication/replication.js';

/** How far one node's joins are, as it says. */
type News = [group: number, status: JoinStatus][];

const periodMs = 1000;
/** What a node said longer ago is not told any more. */
const staleMs = 5000;

/** Every node tells the others now and then how far its joins are, so that any of them can be asked. */
export class JoinNews {
  private readonly links: Links;
  private readonly replication: Replication;
  private readonly clock: Clock;
  private readonly heard = new Map<string, { at: number; news: Map<number, JoinStatus> }>();
  private readonly timer: Timer;

  constructor(links: Links, replication: Replication, clock: Clock) {
    this.links = links;
    this.replication = replication;
    this.clock = clock;
    links.handle(FrameType.joins, (link, frame) => this.hear(link.peer.node, frame));
    this.timer = clock.every(periodMs, () => this.tell());
  }

  /** How far the node's join of the group is; undefined: it does not join, or has said nothing lately. */
  status(node: string, group: number): JoinStatus | undefined {
    const heard = this.heard.get(node);
    if (heard === undefined || this.clock.now() - heard.at > staleMs) return undefined;
    return heard.news.get(group);
  }

  close(): void {
    this.timer.cancel();
  }

  private tell(): void {
    const news: News = [];
    for (const { group, backup } of this.replication.replicas.values())
      if (backup?.joiner !== undefined) news.push([group, backup.joiner.progress.status()]);
    if (news.length === 0) return;
    for (const link of this.links.all()) sendJson(link, FrameType.joins, systemGroup, news);
  }

  private hear(node: string, { bytes, start, end }: Frame): void {
    this.heard.set(node, { at: this.clock.now(), news: new Map(readJson<News>(bytes, start, end)) });
  }
}

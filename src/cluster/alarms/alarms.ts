/**
 * What nodes run short of, known to all of them: while one has an alarm, publishers wait on every node, since what is published anywhere may
 * come to be on that one. A node tells the others over its links, at once; a node whose link is lost has no alarm any more.
 */
import { Feature } from '../../base/versions.js';
import type { GateSource } from '../client/publish-gate.js';
import type { ClusterMap } from '../cluster-map.js';
import type { Frame } from '../link/frame.js';
import { FrameType } from '../link/frame-types.js';
import type { Link } from '../link/link.js';
import type { Links } from '../link/links.js';
import { systemGroup } from '../map.js';
import { readJson, sendJson } from '../replication/frames.js';

/** In the order in which they are named. */
export const alarmKinds = ['memory', 'disk'] as const;
export type AlarmKind = (typeof alarmKinds)[number];

export interface AlarmsOptions {
  /** This one's name. */
  node: string;
  map: ClusterMap;
  /** Undefined for a broker that is alone. */
  links: Links | undefined;
  /** Told whenever `reason` may have changed. */
  changed: () => void;
}

export class Alarms implements GateSource {
  private readonly options: AlarmsOptions;
  /** By node, this one among them. */
  private readonly known: Map<string, readonly AlarmKind[]> = new Map();

  constructor(options: AlarmsOptions) {
    this.options = options;
    const { links, map } = options;
    if (links === undefined) return;
    links.handle(FrameType.alarms, (link, frame) => this.hear(link, frame));
    links.observe({
      up: (link) => {
        if (this.own.length > 0) this.tell(link);
      },
      down: (link) => this.learn(link.peer.node, []),
    });
    map.listen({
      groupChanged: () => {},
      memberChanged: () => {},
      configChanged: () => {
        if (this.own.length > 0) this.tellAll();
      },
    });
  }

  /** This node runs short of something, or does no more. */
  set(kind: AlarmKind, isOn: boolean): void {
    if (this.own.includes(kind) === isOn) return;
    this.learn(
      this.options.node,
      alarmKinds.filter((other) => (other === kind ? isOn : this.own.includes(other))),
    );
    this.tellAll();
  }

  /** What the node runs short of. */
  of(node: string): readonly AlarmKind[] {
    return this.known.get(node) ?? [];
  }

  /** As RabbitMQ says it, and who: `low on memory: node n2`. */
  reason(): string {
    for (const kind of alarmKinds) {
      const nodes = [...this.known].filter(([, kinds]) => kinds.includes(kind)).map(([node]) => node);
      if (nodes.length > 0)
        return `low on ${kind}: ${nodes.length === 1 ? 'node' : 'nodes'} ${nodes.sort().join(', ')}`;
    }
    return '';
  }

  private get own(): readonly AlarmKind[] {
    return this.of(this.options.node);
  }

  private learn(node: string, kinds: readonly AlarmKind[]): void {
    if (kinds.length === 0 && !this.known.delete(node)) return;
    if (kinds.length > 0) this.known.set(node, kinds);
    this.options.changed();
  }

  private tellAll(): void {
    for (const link of this.options.links?.all() ?? []) this.tell(link);
  }

  /** Nodes that do not know of alarms are not told. */
  private tell(link: Link): void {
    if (this.options.map.config.version < Feature.alarms) return;
    sendJson(link, FrameType.alarms, systemGroup, this.own);
  }

  private hear(link: Link, { bytes, start, end }: Frame): void {
    const said = readJson<unknown>(bytes, start, end);
    // A newer node may have alarms of other kinds.
    const kinds = Array.isArray(said) ? alarmKinds.filter((kind) => said.includes(kind)) : [];
    this.learn(link.peer.node, kinds);
  }
}

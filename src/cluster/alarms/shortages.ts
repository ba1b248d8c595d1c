/** What this node runs short of, and who is told: the cluster's map, so that it leads nothing while it cannot write; and its alarms. */
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { MemoryMeter } from '../../base/memory-meter.js';
import type { Journal } from '../../log/journal.js';
import type { ClusterMap } from '../cluster-map.js';
import type { Links } from '../link/links.js';
import type { OwnMember } from '../own-member.js';
import { Alarms } from './alarms.js';
import { MemoryWatch } from './memory-watch.js';

/** Whose publishers wait while a node's disk is nearly full: its own, or those of the whole cluster. */
export const DiskAlarm = { node: 'node', cluster: 'cluster' } as const;
export type DiskAlarm = (typeof DiskAlarm)[keyof typeof DiskAlarm];

export interface ShortageOptions {
  node: string;
  map: ClusterMap;
  entry: OwnMember;
  /** Undefined for a broker that is alone. */
  links: Links | undefined;
  journal: Pick<Journal, 'state' | 'onState'>;
  diskAlarm: DiskAlarm;
  /** Undefined: memory is not watched. */
  memory?: MemoryMeter | undefined;
  /** What the process may use before there is an alarm. */
  memoryHighBytes: number;
  clock: Clock;
  logger: Logger;
  /** Publishers may have to wait, or need not any more. */
  changed: () => void;
}

/** What the cluster is told of a node that cannot write, or soon cannot. */
const lowOnDisk = 'low on disk';

export class Shortages {
  readonly alarms: Alarms;
  private readonly options: ShortageOptions;
  private readonly memoryWatch: MemoryWatch | undefined;

  constructor(options: ShortageOptions) {
    this.options = options;
    this.alarms = new Alarms(options);
    options.journal.onState(() => this.journalChanged());
    this.journalChanged();
    const { memory, clock, memoryHighBytes } = options;
    if (memory === undefined || memoryHighBytes === Number.POSITIVE_INFINITY) return;
    this.memoryWatch = new MemoryWatch(memory, clock, memoryHighBytes, (isHigh, used) =>
      this.memoryChanged(isHigh, used),
    );
  }

  close(): void {
    this.memoryWatch?.close();
  }

  private journalChanged(): void {
    const { links, entry, diskAlarm, journal, changed } = this.options;
    const ailing = (): string | undefined => (journal.state === 'ok' ? undefined : lowOnDisk);
    if (links !== undefined) entry.tellHealth(ailing);
    if (diskAlarm === DiskAlarm.cluster) this.alarms.set('disk', ailing() !== undefined);
    changed();
  }

  private memoryChanged(isHigh: boolean, used: number): void {
    const { logger, memoryHighBytes: watermark } = this.options;
    if (isHigh) logger.warn('memory is above its high watermark: publishers wait on all nodes', { used, watermark });
    else logger.info('memory is below its high watermark again', { used, watermark });
    this.alarms.set('memory', isHigh);
  }
}

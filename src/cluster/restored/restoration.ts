/**
 * Rule 18: a coordinator that was put back to an older state (restored from a backup, or replaced by an old copy) names primaries and
 * in-sync sets of the past: whoever believed it could lead a group without what was confirmed since.
 *
 * A node that starts looks whether the coordinator is the one it knew, and not older than what it saw there. If something is
 * wrong it says so in the coordinator, in an entry that every node sees: those that run end, those that start do nothing but report the
 * records that they last acted on, which are in their journals (and were before they acted). When all wanted replicas have reported,
 * or the operator does not wait for the rest, the newest records come into force again, with much higher epochs, and all go on.
 *
 *   suspicion ─▶ entry `restored`, open ─▶ everybody's `reports/NODE` ─▶ newest records, epoch + 1,000, `restored` closed ─▶ start
 */
import { type Clock, sleep } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { Random } from '../../base/random.js';
import type { GroupMeta } from '../../log/journal.js';
import type { Change, Coordinator, Entry } from '../coordinator/coordinator.js';
import { MapKey } from '../map.js';
import type { CoordinatorMemory } from './coordinator-memory.js';
import { CoordinatorWatch } from './coordinator-watch.js';
import { describeGroup, describeGroups } from '../waiting/texts.js';
import {
  forgottenRecord,
  type NodeReport,
  reportOf,
  RestoredKey,
  type RestoredState,
  settle,
  type Settlement,
} from './reports.js';

export interface RestorationPorts {
  node: string;
  memory: CoordinatorMemory;
  coordinator: Coordinator;
  clock: Clock;
  random: Random;
  logger: Logger;
  /** What the journal has of each group. */
  recovered: ReadonlyMap<number, { readonly meta: GroupMeta }>;
}

/** Between two looks at the reports. */
const lookMs = 200;
const repeatLogMs = 30_000;

export class Restoration {
  /** Why the node waits, in words; '' when it does not. */
  waitsFor = '';
  private readonly ports: RestorationPorts;
  private closed = false;
  private readonly metas: readonly [group: number, meta: GroupMeta][];
  private running: CoordinatorWatch | undefined;
  private saidAt = Number.NEGATIVE_INFINITY;

  constructor(ports: RestorationPorts) {
    this.ports = ports;
    this.metas = [...ports.recovered].map(([group, { meta }]) => [group, meta]);
  }

  /** Resolves when the coordinator can be believed: at once, as a rule. To be awaited before anything that it says is acted on. */
  async settled(): Promise<void> {
    const { memory, logger } = this.ports;
    for (let said = ''; !this.closed; ) {
      const [identity, entries] = await this.look();
      if (this.closed) return;
      const state = stateOf(entries);
      const suspicion = this.suspicion(identity, entries, state);
      if (suspicion === '' && !state.open) {
        const version = versionOf(entries);
        await memory.setCoordinator({ identity, version, restorations: state.number });
        if (this.waitsFor !== '') logger.warn('the coordinator is believed again', { restorations: state.number });
        this.waitsFor = '';
        await this.tidy(entries).catch((error: unknown) => this.troubled(error));
        return;
      }
      if (suspicion !== '' && suspicion !== said)
        logger.error('the coordinator was put back to an older state, or replaced', { why: suspicion });
      said = suspicion;
      if (!state.open) await this.open(entries, state, identity).catch(() => {});
      else await this.report(entries, state, identity).catch((error: unknown) => this.troubled(error));
      await this.sleep();
    }
  }

  /** The operator does not wait for nodes that have not reported. Resolves to false if nothing is waited for. */
  async accept(asker: string): Promise<boolean> {
    const [, entries] = await this.look();
    const state = stateOf(entries);
    if (!state.open) return false;
    this.ports.logger.warn('restored coordinator: the loss is accepted', { by: asker, waitsFor: this.waitsFor });
    const value = JSON.stringify({ ...state, accepted: asker });
    const { ok } = await this.ports.coordinator.swap([{ key: RestoredKey.state, expect: version(entries), value }]);
    return ok || (await this.accept(asker));
  }

  /** From now on the node acts: what it sees is remembered, and it ends when others find that the coordinator was put back. */
  watch(map: { onEntry: (entry: Entry) => void }, failed: (reason: string) => void): void {
    const watch = new CoordinatorWatch(this.ports.memory, this.ports.clock, () =>
      failed('the coordinator was put back to an older state: what this node knows is asked for when it starts anew'),
    );
    this.running = watch;
    map.onEntry = (entry): void => watch.seen(entry);
  }

  close(): void {
    this.closed = true;
    this.running?.close();
  }

  /** '' if nothing speaks against believing it. */
  private suspicion(identity: string, entries: readonly Entry[], state: RestoredState): string {
    const known = this.ports.memory.coordinator;
    if (known.identity === '') return '';
    const forgotten = forgottenRecord(entries, this.metas);
    if (forgotten !== undefined)
      return `this node acted on a newer record of ${describeGroup(forgotten.group)}, of epoch ${forgotten.epoch}, than it has`;
    if (state.number < known.restorations)
      return `it knows of ${state.number} restorations, this node of ${known.restorations}`;
    // Others have settled what happened while we were away; unless it was replaced since.
    if (state.number > known.restorations)
      return state.identity === identity ? '' : `its identity was ${state.identity}, and is ${identity}`;
    if (known.identity !== identity) return `its identity was ${known.identity}, and is ${identity}`;
    const found = versionOf(entries);
    return found < known.version ? `it went back from version ${known.version} to ${found}` : '';
  }

  private async open(entries: readonly Entry[], { number }: RestoredState, identity: string): Promise<void> {
    const next = Math.max(number, this.ports.memory.coordinator.restorations) + 1;
    const value: RestoredState = { number: next, identity, open: true, accepted: '' };
    await this.swap([{ key: RestoredKey.state, expect: version(entries), value: JSON.stringify(value) }]);
  }

  /** Our report has served. */
  private async tidy(entries: readonly Entry[]): Promise<void> {
    const own = entries.find(({ key }) => key === RestoredKey.report(this.ports.node));
    if (own !== undefined) await this.swap([{ key: own.key, expect: own.version, value: null }]);
  }

  /** Adds what we know, and settles it if everything is known. */
  private async report(entries: readonly Entry[], state: RestoredState, identity: string): Promise<void> {
    const { node, memory, logger } = this.ports;
    const self = { node, store: memory.storeId, boots: memory.boots };
    const own = JSON.stringify(reportOf(self, state.number, this.metas));
    const key = RestoredKey.report(node);
    const there = entries.find((entry) => entry.key === key);
    if (there?.value !== own) {
      await this.swap([{ key, expect: there?.version ?? 0, value: own }]);
      return;
    }
    const settlement = settle(entries, reportsOf(entries, state.number));
    if (settlement.missing.size > 0 && state.accepted === '') {
      this.waits(settlement);
      return;
    }
    if (await this.enforce(entries, state, identity, settlement))
      logger.warn('the newest records are in force again', { groups: settlement.records.length });
  }

  private async enforce(
    entries: readonly Entry[],
    state: RestoredState,
    identity: string,
    { records, boots }: Settlement,
  ): Promise<boolean> {
    const versionOfKey = (key: string): number => entries.find((entry) => entry.key === key)?.version ?? 0;
    const { boots: key } = MapKey;
    if (!(await this.swap([{ key, expect: versionOfKey(key), value: String(boots) }]))) return false;
    const closed: RestoredState = { ...state, identity, open: false };
    const changes: Change[] = records.map((record) => {
      const key = MapKey.group(record.group);
      return { key, expect: versionOfKey(key), value: JSON.stringify(record) };
    });
    changes.push({ key: RestoredKey.state, expect: version(entries), value: JSON.stringify(closed) });
    return await this.swap(changes);
  }

  private waits({ missing }: Settlement): void {
    const nodes = [...missing].map(([node, groups]) => `${node} (groups ${describeGroups(groups)})`).join(', ');
    this.waitsFor = `the coordinator was put back to an older state: this node waits until these have reported what they know: ${nodes}`;
    const now = this.ports.clock.now();
    if (now - this.saidAt < repeatLogMs) return;
    this.saidAt = now;
    this.ports.logger.warn('waits for nodes to report what they know: start those that run anew', { nodes });
  }

  /** Both can be had, sooner or later. */
  private async look(): Promise<[identity: string, entries: Entry[]]> {
    const { coordinator, logger } = this.ports;
    for (let isFirst = true; ; isFirst = false) {
      try {
        return [await coordinator.identity(), await coordinator.read('')];
      } catch (error) {
        if (this.closed) return ['', []];
        if (isFirst) logger.warn('the coordinator does not answer: waiting for it', { error: String(error) });
        await this.sleep();
      }
    }
  }

  private async swap(changes: Change[]): Promise<boolean> {
    return (await this.ports.coordinator.swap(changes)).ok;
  }

  private troubled(error: unknown): void {
    this.ports.logger.debug('the coordinator did not answer', { error: String(error) });
  }

  private sleep(): Promise<void> {
    const { clock, random } = this.ports;
    return sleep(clock, lookMs / 2 + random.int(lookMs));
  }
}

/** What the coordinator says of its own restorations. */
export function stateOf(entries: readonly Entry[]): RestoredState {
  const entry = entries.find(({ key }) => key === RestoredKey.state);
  return entry === undefined
    ? { number: 0, identity: '', open: false, accepted: '' }
    : (JSON.parse(entry.value) as RestoredState);
}

function version(entries: readonly Entry[]): number {
  return entries.find(({ key }) => key === RestoredKey.state)?.version ?? 0;
}

function versionOf(entries: readonly Entry[]): number {
  return entries.reduce((highest, entry) => Math.max(highest, entry.version), 0);
}

/** Reports of this restoration; older ones are left over. */
function reportsOf(entries: readonly Entry[], number: number): NodeReport[] {
  return entries
    .filter(({ key }) => key.startsWith('reports/'))
    .map(({ value }) => JSON.parse(value) as NodeReport)
    .filter((report) => report.number === number);
}

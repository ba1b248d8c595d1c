/**
 * A node's view of the cluster map, kept fresh by the coordinator's watch, and its only writer here: all compare-and-sets
 * of a turn leave together. The view may be old; a swap never is, since it names the version it was made from (rule 3).
 */
import { type Clock, sleep } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { Random } from '../base/random.js';
import type { Rules } from '../base/rules.js';
import { type Flushable, Phase, type Turn } from '../base/turn.js';
import { type Change, type Coordinator, type Entry, OutcomeUnknownError } from './coordinator/coordinator.js';
import {
  type ClusterConfig,
  type Forgotten,
  type GroupRecord,
  MapKey,
  type Member,
  noConfig,
  parseConfig,
  parseEntry,
  type Transfer,
  type Versioned,
} from './map.js';

/** What came of a compare-and-set of one record. */
export type SwapOutcome<T> =
  | { kind: 'done'; record: Versioned<T> }
  /** Somebody else changed it: this is what stands there now. */
  | { kind: 'conflict'; record: Versioned<T> | undefined }
  /** It may have happened, or may still: read, and try the same again. */
  | { kind: 'unknown' }
  /** It did not happen. */
  | { kind: 'unavailable' };

/** Between attempts at the first reading. */
const reopenMs = 50;

interface PendingSwap {
  change: Change;
  resolve(outcome: SwapOutcome<unknown>): void;
}

export interface MapListener {
  groupChanged(record: Versioned<GroupRecord>): void;
  memberChanged(member: Member | undefined, node: string): void;
  configChanged?(config: ClusterConfig): void;
  forgotten?(store: string, node: Forgotten): void;
}

/** Resolves when a compare-and-set whose outcome is not known is to be made again: at random, so that nodes do not keep step. */
export function untilNextAttempt(clock: Clock, random: Random): Promise<void> {
  return sleep(clock, 20 + random.int(30));
}

export class ClusterMap implements Flushable {
  readonly members: Map<string, Versioned<Member>> = new Map();
  readonly groups: Map<number, Versioned<GroupRecord>> = new Map();
  /** Nodes that are members no more, by store. */
  readonly forgotten: Map<string, Forgotten> = new Map();
  /** Wishes of operators, by group. */
  readonly transfers: Map<number, Versioned<Transfer>> = new Map();
  config: ClusterConfig = noConfig;
  private configVersion = 0;
  /** When the last answered read was sent, by our clock: the lease of a primary that is alone rests on it (rule 11). */
  confirmedAt: number = Number.NEGATIVE_INFINITY;
  private readonly coordinator: Coordinator;
  private readonly clock: Clock;
  private readonly turn: Turn;
  private readonly logger: Logger;
  private readonly rules: Rules;
  /** Told of every entry that is read or has changed. */
  onEntry: (entry: Entry) => void = () => {};
  private readonly listeners: MapListener[] = [];
  private pending: PendingSwap[] = [];
  private watching: { close(): void } | undefined;
  private reading = false;
  private closed = false;

  constructor(ports: { coordinator: Coordinator; clock: Clock; turn: Turn; logger: Logger; rules: Rules }) {
    this.coordinator = ports.coordinator;
    this.clock = ports.clock;
    this.turn = ports.turn;
    this.logger = ports.logger;
    this.rules = ports.rules;
  }

  listen(listener: MapListener): void {
    this.listeners.push(listener);
  }

  /** Begins to watch; the view is complete when this resolves, which takes until the coordinator answers. */
  async open(): Promise<void> {
    this.watching = this.coordinator.watch('', (entries) => {
      for (const entry of entries) this.changed(entry);
    });
    while (!this.closed) {
      try {
        return await this.refresh();
      } catch (error) {
        this.logger.debug('the coordinator did not answer', { error: String(error) });
        await sleep(this.clock, reopenMs);
      }
    }
  }

  /** Reads everything again. Rejects if the coordinator cannot be reached. */
  async refresh(): Promise<void> {
    const sentAt = this.clock.now();
    const entries = await this.coordinator.read('');
    if (this.closed) return;
    for (const entry of entries) this.changed(entry);
    if (sentAt > this.confirmedAt) this.confirmedAt = sentAt;
  }

  /** Starts a refresh if none is under way; failures show in `confirmedAt` standing still. */
  refreshSoon(): void {
    if (this.reading || this.closed) return;
    this.reading = true;
    this.refresh()
      .catch((error: unknown) => this.logger.debug('the coordinator did not answer', { error: String(error) }))
      .finally(() => {
        this.reading = false;
      });
  }

  /** Compare-and-set of a group's record against `version`. */
  swapGroup(value: GroupRecord, version: number): Promise<SwapOutcome<GroupRecord>> {
    return this.swap({ key: MapKey.group(value.group), expect: version, value: JSON.stringify(value) });
  }

  swapMember(value: Member, version: number): Promise<SwapOutcome<Member>> {
    return this.swap({ key: MapKey.member(value.node), expect: version, value: JSON.stringify(value) });
  }

  /** Writes down what an operator wants for a group; if that is nothing, takes it out. `version` of what stands there; 0: nothing. */
  swapTransfer(value: Transfer, version: number): Promise<SwapOutcome<Transfer>> {
    const isEmpty = value.to === undefined && value.replicas === undefined;
    return this.swap({
      key: MapKey.transfer(value.group),
      expect: version,
      value: isEmpty ? null : JSON.stringify(value),
    });
  }

  close(): void {
    this.closed = true;
    this.watching?.close();
  }

  flush(): void {
    const swaps = this.pending;
    this.pending = [];
    // Of those of one record only the first: the others name the same version, and are to find that it has changed.
    const first = new Map<string, PendingSwap>();
    for (const swap of swaps) if (!first.has(swap.change.key)) first.set(swap.change.key, swap);
    const others = swaps.filter((swap) => first.get(swap.change.key) !== swap);
    void this.send([...first.values()]).then(() => this.sendSingly(others));
  }

  private swap<T>(change: Change): Promise<SwapOutcome<T>> {
    return new Promise((resolve) => {
      this.pending.push({ change, resolve: resolve as (outcome: SwapOutcome<unknown>) => void });
      if (this.pending.length === 1) this.turn.add(Phase.output, this);
    });
  }

  /** All in one if possible; one by one if some version stood against it, since they are independent of each other. */
  private async send(swaps: PendingSwap[]): Promise<void> {
    if (swaps.length > 1) {
      const outcome = await this.attempt(swaps.map((swap) => swap.change));
      if (outcome.kind === 'done') {
        swaps.forEach((swap, i) => this.settle(swap, true, outcome.entries[i]));
        return;
      }
      if (outcome.kind === 'failed') {
        for (const swap of swaps) swap.resolve({ kind: outcome.unknown ? 'unknown' : 'unavailable' });
        return;
      }
    }
    await this.sendSingly(swaps);
  }

  private async sendSingly(swaps: PendingSwap[]): Promise<void> {
    await Promise.all(
      swaps.map(async (swap) => {
        const change = this.rules.wholeRecord ? swap.change : await this.blind(swap.change);
        const outcome = await this.attempt([change]);
        if (outcome.kind === 'failed') swap.resolve({ kind: outcome.unknown ? 'unknown' : 'unavailable' });
        else this.settle(swap, outcome.kind === 'done', outcome.entries[0]);
      }),
    );
  }

  /** Planted fault: writes over whatever is there. */
  private async blind(change: Change): Promise<Change> {
    const now = await this.coordinator.read(change.key).catch(() => []);
    return { ...change, expect: now.find((entry) => entry.key === change.key)?.version ?? 0 };
  }

  private async attempt(
    changes: Change[],
  ): Promise<
    { kind: 'done'; entries: Entry[] } | { kind: 'conflict'; entries: Entry[] } | { kind: 'failed'; unknown: boolean }
  > {
    try {
      const result = await this.coordinator.swap(changes);
      return { kind: result.ok ? 'done' : 'conflict', entries: result.entries };
    } catch (error) {
      return { kind: 'failed', unknown: error instanceof OutcomeUnknownError };
    }
  }

  private settle(swap: PendingSwap, done: boolean, entry: Entry | undefined): void {
    if (this.closed) return;
    if (entry !== undefined) this.changed(entry);
    const record = entry === undefined || entry.version === 0 ? undefined : parseEntry<unknown>(entry);
    if (done) swap.resolve({ kind: 'done', record: record! });
    else swap.resolve({ kind: 'conflict', record });
  }

  private changed(entry: Entry): void {
    this.onEntry(entry);
    if (this.closed) return;
    if (entry.key === MapKey.cluster) this.configChanged(entry);
    else if (entry.key.startsWith('members/')) this.memberChanged(entry);
    else if (entry.key.startsWith('groups/') && entry.version > 0) this.groupChanged(parseEntry<GroupRecord>(entry));
    else if (entry.key.startsWith('forgotten/') && entry.version > 0) this.forget(entry);
    else if (entry.key.startsWith('transfers/')) this.transferChanged(entry);
  }

  private transferChanged(entry: Entry): void {
    const group = Number(entry.key.slice('transfers/'.length));
    const known = this.transfers.get(group);
    if (entry.version === 0) this.transfers.delete(group);
    else if (known === undefined || known.version < entry.version)
      this.transfers.set(group, parseEntry<Transfer>(entry));
  }

  private configChanged(entry: Entry): void {
    if (entry.version <= this.configVersion) return;
    this.configVersion = entry.version;
    this.config = parseConfig(entry);
    for (const listener of this.listeners) listener.configChanged?.(this.config);
  }

  private memberChanged(entry: Entry): void {
    const node = entry.key.slice('members/'.length);
    const known = this.members.get(node);
    if (entry.version === 0) {
      if (known === undefined) return;
      this.members.delete(node);
      for (const listener of this.listeners) listener.memberChanged(undefined, node);
      return;
    }
    if (known !== undefined && known.version >= entry.version) return;
    const member = parseEntry<Member>(entry);
    // A reading from before it was forgotten.
    if (this.forgotten.has(member.value.store)) return;
    this.members.set(node, member);
    for (const listener of this.listeners) listener.memberChanged(member.value, node);
  }

  private forget(entry: Entry): void {
    const store = entry.key.slice('forgotten/'.length);
    if (this.forgotten.has(store)) return;
    const { value } = parseEntry<Forgotten>(entry);
    this.forgotten.set(store, value);
    if (this.members.get(value.node)?.value.store === store)
      this.memberChanged({ key: MapKey.member(value.node), value: '', version: 0 });
    for (const listener of this.listeners) listener.forgotten?.(store, value);
  }

  /** The node is a member no more, and was not added again. */
  isForgotten(node: string): boolean {
    return !this.members.has(node) && [...this.forgotten.values()].some((other) => other.node === node);
  }

  private groupChanged(record: Versioned<GroupRecord>): void {
    const known = this.groups.get(record.value.group);
    if (known !== undefined && known.version >= record.version) return;
    this.groups.set(record.value.group, record);
    for (const listener of this.listeners) listener.groupChanged(record);
  }
}

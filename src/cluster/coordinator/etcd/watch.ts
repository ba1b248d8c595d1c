/**
 * What is under a prefix in etcd, followed: a reading of all, then every change from that revision on, over whichever member
 * answers. After a break it goes on where it was; if etcd has forgotten that far back, with a new reading.
 */
import { type Clock, sleep } from '../../../base/clock.js';
import type { Logger } from '../../../base/logger.js';
import type { Entry } from '../coordinator.js';
import { changedEntries } from '../entries.js';
import { type EtcdConnection, revisionOf } from './connection.js';
import type { EtcdMembers } from './members.js';
import type { KeyValue, WatchAnswer } from './schema.js';

/** After a break; finding a member takes its own time. */
const pauseMs = 20;

export interface WatchOptions {
  members: EtcdMembers;
  prefix: string;
  clock: Clock;
  logger: Logger;
  /** What changed, in order; after a reading, what is different. */
  changed(entries: Entry[]): void;
}

export class EtcdWatch {
  private readonly options: WatchOptions;
  /** As of `revision`. */
  private entries: Map<string, Entry> = new Map();
  /** 0: nothing was read yet. */
  private revision = 0;
  private stream: { close(): void } | undefined;
  private closed = false;

  /** Begins at once, and goes on whatever happens. */
  constructor(options: WatchOptions) {
    this.options = options;
    void this.run();
  }

  close(): void {
    this.closed = true;
    this.stream?.close();
  }

  private async run(): Promise<void> {
    while (!this.closed) {
      try {
        await this.follow();
      } catch (error) {
        if (!this.closed) this.options.logger.debug('the watch of etcd broke', { error: String(error) });
      }
      await sleep(this.options.clock, pauseMs);
    }
  }

  /** Until something breaks: rejects then. */
  private async follow(): Promise<never> {
    const { members, prefix } = this.options;
    if (this.revision === 0) await this.read();
    const connection = await members.connection();
    return await new Promise((_resolve, reject) => {
      if (this.closed) return reject(new Error('closed'));
      this.stream = connection.watch(
        prefix,
        this.revision + 1,
        (answer) => this.answered(connection, answer),
        (error) => {
          members.drop(connection);
          reject(error);
        },
      );
    });
  }

  private async read(): Promise<void> {
    const { members, prefix } = this.options;
    const { header, kvs } = await members.call((connection) => connection.range(prefix));
    if (this.closed) return;
    const before = this.entries;
    this.entries = new Map(kvs.map((kv) => entryOf(kv, prefix)).map((entry) => [entry.key, entry]));
    this.revision = Number(header.revision);
    this.tell(changedEntries(before, this.entries));
  }

  private answered(connection: EtcdConnection, { canceled, cancelReason, compactRevision, events }: WatchAnswer): void {
    if (this.closed) return;
    const changed: Entry[] = [];
    for (const { type, kv } of events) {
      const revision = revisionOf(kv);
      if (revision <= this.revision) continue;
      const entry = entryOf(kv, this.options.prefix);
      if (type === 'PUT') this.entries.set(entry.key, entry);
      else this.entries.delete(entry.key);
      changed.push(type === 'PUT' ? entry : { ...entry, value: '', version: 0 });
    }
    const last = events.at(-1);
    if (last !== undefined) this.revision = Math.max(this.revision, revisionOf(last.kv));
    this.tell(changed);
    if (!canceled) return;
    if (compactRevision !== '0') this.revision = 0;
    this.options.logger.debug('etcd ended the watch', { endpoint: connection.endpoint, reason: cancelReason });
    this.stream?.close();
  }

  private tell(changed: Entry[]): void {
    if (changed.length > 0) this.options.changed(changed);
  }
}

/** An entry of the map, without the prefix. */
export function entryOf(kv: KeyValue, prefix: string): Entry {
  return { key: kv.key.toString().slice(prefix.length), value: kv.value.toString(), version: revisionOf(kv) };
}

/**
 * The `etcd` engine: brokers on any machines, agreement in an etcd of one or more members (v3 API, 3.4 and later).
 *
 *   PREFIX/map/KEY   the entries; the version of one is etcd's mod_revision, which no key ever has again
 *   PREFIX/origin    a random text, made once
 *
 * A swap is one transaction, sent to one member once. Whether it was done is unknown if its answer is lost, and the port says
 * so (OutcomeUnknownError): to repeat it is the caller's, who can tell what it means, and harmless, since it names versions.
 * Readings are linearizable, and repeated at another member. Nothing waits for long: `timeoutMs` for each call, and a member
 * that fails is left at once.
 *
 * There are no leases here: liveness is the brokers' heartbeats (rule 11), so a cluster in which nothing has to change goes on
 * without etcd. See docs/adr/0004-etcd-client.md.
 */
import type { Clock } from '../../../base/clock.js';
import type { Logger } from '../../../base/logger.js';
import type { Random } from '../../../base/random.js';
import {
  type Change,
  type Coordinator,
  CoordinatorUnavailableError,
  type Entry,
  OutcomeUnknownError,
  type SwapResult,
} from '../coordinator.js';
import { checkChanges } from '../entries.js';
import { Watchers } from '../watchers.js';
import { type ConnectionOptions, type EtcdConnection, EtcdError } from './connection.js';
import { EtcdMembers } from './members.js';
import type { Header, KeyValue, TxnAnswer } from './schema.js';
import { EtcdWatch, entryOf } from './watch.js';

/** Operations of one transaction, as etcd has it by default (--max-txn-ops). */
export const etcdChangesMax = 128;
/** For a connection, and for each call. */
const timeoutMsDefault = 1000;
/** Members that an operation tries, one after the other. */
const attemptsMax = 3;

export interface EtcdOptions {
  /** HOST:PORT of members, at least one. */
  endpoints: readonly string[];
  /** Before all keys; others may use the same etcd under other prefixes. Default /understudy. */
  prefix?: string;
  tls?: ConnectionOptions['tls'];
  user?: ConnectionOptions['user'];
  clock: Clock;
  random: Random;
  logger: Logger;
  timeoutMs?: number;
}

export class EtcdCoordinator implements Coordinator {
  private readonly members: EtcdMembers;
  private readonly watching: EtcdWatch;
  private readonly watchers = new Watchers();
  private readonly random: Random;
  private readonly mapPrefix: string;
  private readonly originKey: string;

  /** Connects by itself, and again whenever it has to: etcd may be down. */
  constructor(options: EtcdOptions) {
    const { endpoints, prefix = '/understudy', tls = null, user = null, clock, random, logger } = options;
    const { timeoutMs = timeoutMsDefault } = options;
    this.random = random;
    this.mapPrefix = `${prefix}/map/`;
    this.originKey = `${prefix}/origin`;
    this.members = new EtcdMembers({ endpoints, tls, user, clock, logger, timeoutMs, probeKey: this.originKey });
    this.watching = new EtcdWatch({
      members: this.members,
      prefix: this.mapPrefix,
      clock,
      logger,
      changed: (entries) => this.watchers.tell(entries),
    });
  }

  async identity(): Promise<string> {
    const change = { key: this.originKey, expect: 0, value: this.random.hex(32) };
    const { header, kvs } = await this.repeat((connection) => connection.get(this.originKey));
    if (kvs[0] !== undefined) return identityOf(header, kvs[0].value.toString());
    const { succeeded, responses } = await this.repeat((connection) => connection.swap([change]));
    return identityOf(header, succeeded ? change.value : found(responses[0]!)!.value.toString());
  }

  async read(prefix: string): Promise<Entry[]> {
    const { kvs } = await this.repeat((connection) => connection.range(this.mapPrefix + prefix));
    return kvs.map((kv) => entryOf(kv, this.mapPrefix));
  }

  async swap(changes: readonly Change[]): Promise<SwapResult> {
    checkChanges(changes);
    if (changes.length > etcdChangesMax)
      throw new RangeError(`${changes.length} changes in one swap, etcd takes ${etcdChangesMax}`);
    const named = changes.map((change) => ({ ...change, key: this.mapPrefix + change.key }));
    const { header, succeeded, responses } = await this.attempt(
      (connection) => connection.swap(named),
      (error) => error.undone,
      (error) => new OutcomeUnknownError(error.message),
    );
    const entries = changes.map(({ key, value }, index): Entry => {
      if (succeeded) return value === null ? absent(key) : { key, value, version: Number(header.revision) };
      const kv = found(responses[index]!);
      return kv === undefined ? absent(key) : entryOf(kv, this.mapPrefix);
    });
    return { ok: succeeded, entries };
  }

  watch(prefix: string, changed: (entries: Entry[]) => void): { close(): void } {
    return this.watchers.add(prefix, changed);
  }

  /** Ends what is under way. */
  async close(): Promise<void> {
    this.watchers.clear();
    this.watching.close();
    this.members.close();
  }

  /** For requests that may be made twice. */
  private repeat<T extends { header: Header }>(request: (connection: EtcdConnection) => Promise<T>): Promise<T> {
    return this.attempt(
      request,
      () => true,
      (error) => new CoordinatorUnavailableError(error.message),
    );
  }

  /** Makes a request; of another member, if it failed and `mayRepeat`. */
  private async attempt<T extends { header: Header }>(
    request: (connection: EtcdConnection) => Promise<T>,
    mayRepeat: (error: EtcdError) => boolean,
    failed: (error: EtcdError) => Error,
  ): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.members.call(request);
      } catch (error) {
        if (!(error instanceof EtcdError)) throw error;
        if (!mayRepeat(error)) throw failed(error);
        if (error.refused || attempt === attemptsMax) throw new CoordinatorUnavailableError(error.message);
      }
    }
  }
}

/** Of the reading of one key. */
function found(response: TxnAnswer['responses'][number]): KeyValue | undefined {
  return response.responseRange!.kvs[0];
}

function absent(key: string): Entry {
  return { key, value: '', version: 0 };
}

function identityOf({ clusterId }: Header, origin: string): string {
  return `${clusterId}-${origin}`;
}

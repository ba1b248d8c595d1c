/**
 * The members of one etcd, of which one is talked to: whichever answers first. If it fails in whatever way, all are asked again. Checks
 * of every answer that it comes from the same etcd, and from no earlier state of it (rule 18).
 */
import { type Clock, sleep } from '../../../base/clock.js';
import type { Logger } from '../../../base/logger.js';
import { CoordinatorUnavailableError } from '../coordinator.js';
import { type ConnectionOptions, EtcdConnection, EtcdError } from './connection.js';
import type { Header } from './schema.js';

/** After no member answered: until they are asked again. */
const retryMs = 250;
/** Without an answer for so long, a member is asked whether it still can. */
const probeMs = 1000;

export interface MembersOptions extends Omit<ConnectionOptions, 'endpoint'> {
  /** HOST:PORT of each. */
  endpoints: readonly string[];
  /** What a new connection reads, to see whether it is good for anything. */
  probeKey: string;
  logger: Logger;
}

export class EtcdMembers {
  private readonly options: MembersOptions;
  private readonly clock: Clock;
  private readonly logger: Logger;
  private current: EtcdConnection | undefined;
  private connecting: Promise<EtcdConnection> | undefined;
  /** Of the etcd that answered first; '' before. */
  private cluster = '';
  /** The highest that was answered. */
  private revision = 0;
  private answeredAt = Number.NEGATIVE_INFINITY;
  private failedAt = Number.NEGATIVE_INFINITY;
  private readonly probes: { cancel(): void };
  private probing = false;
  /** Why no member is trusted any more; '' if they are. */
  private distrust = '';
  private trouble = '';
  private closed = false;

  constructor(options: MembersOptions) {
    this.options = options;
    this.clock = options.clock;
    this.logger = options.logger;
    this.probes = this.clock.every(probeMs, () => this.probe());
  }

  /**
   * Makes one request of one member. Rejects with CoordinatorUnavailableError if none can be reached, with EtcdError if that
   * member failed; the next request goes to another.
   */
  async call<T extends { header: Header }>(request: (connection: EtcdConnection) => Promise<T>): Promise<T> {
    const connection = await this.connection();
    return await this.ask(connection, request);
  }

  /** A member that has just answered. Rejects with CoordinatorUnavailableError. */
  async connection(): Promise<EtcdConnection> {
    this.check();
    if (this.current?.isOpen) return this.current;
    this.connecting ??= this.connect().finally(() => {
      this.connecting = undefined;
    });
    return await this.connecting;
  }

  /** It has failed: nothing more is asked of it. */
  drop(connection: EtcdConnection): void {
    connection.close();
    if (this.current === connection) this.current = undefined;
  }

  close(): void {
    this.closed = true;
    this.probes.cancel();
    if (this.current) this.drop(this.current);
  }

  private check(): void {
    if (this.closed) throw new CoordinatorUnavailableError('the coordinator handle is closed');
    if (this.distrust !== '') throw new CoordinatorUnavailableError(this.distrust);
  }

  private async connect(): Promise<EtcdConnection> {
    const waitMs = this.failedAt + retryMs - this.clock.now();
    if (waitMs > 0) await sleep(this.clock, waitMs);
    this.check();
    if (this.current) this.drop(this.current);
    const known = this.revision;
    let isFirst = true;
    const attempts = this.options.endpoints.map(async (endpoint) => {
      const connection = await EtcdConnection.open(
        { ...this.options, endpoint },
        this.options.probeKey,
        (opened, header) => this.verify(opened, header, known),
      );
      if (!isFirst || this.closed) connection.close();
      isFirst = false;
      return connection;
    });
    try {
      this.current = await Promise.any(attempts);
    } catch (error) {
      this.failedAt = this.clock.now();
      throw this.unavailable(error as AggregateError);
    }
    this.check();
    this.restored(this.current);
    return this.current;
  }

  private async ask<T extends { header: Header }>(
    connection: EtcdConnection,
    request: (connection: EtcdConnection) => Promise<T>,
  ): Promise<T> {
    const known = this.revision;
    let answer: T;
    try {
      answer = await request(connection);
    } catch (error) {
      if (!(error instanceof EtcdError && error.refused)) this.drop(connection);
      throw error;
    }
    this.verify(connection, answer.header, known);
    return answer;
  }

  /** @param known the revision that was known when the request was sent */
  private verify(connection: EtcdConnection, header: Header, known: number): void {
    const { clusterId } = header;
    const revision = Number(header.revision);
    if (this.cluster === '') this.cluster = clusterId;
    if (clusterId !== this.cluster) {
      this.drop(connection);
      const text = `${connection.endpoint} is of etcd cluster ${clusterId}, the others of ${this.cluster}`;
      this.logger.warn(text);
      throw new EtcdError(text, false);
    }
    if (revision < known) {
      this.distrust = `etcd went back from revision ${known} to ${revision}: it was restored or replaced; restart the brokers`;
      this.logger.error(this.distrust, { endpoint: connection.endpoint });
      this.drop(connection);
      // Of a change: it was made, in an etcd that is none of ours any more.
      throw new EtcdError(this.distrust, false);
    }
    this.revision = Math.max(this.revision, revision);
    this.answeredAt = this.clock.now();
  }

  /** A frozen or isolated member says nothing, not even that a watch is dead: so it is asked. */
  private probe(): void {
    const { current } = this;
    if (current === undefined || this.probing || this.clock.now() - this.answeredAt < probeMs) return;
    this.probing = true;
    this.ask(current, () => current.get(this.options.probeKey))
      .catch((error: unknown) => this.logger.debug('etcd did not answer', { error: String(error) }))
      .finally(() => {
        this.probing = false;
      });
  }

  private unavailable({ errors }: AggregateError): CoordinatorUnavailableError {
    const reasons = errors.map((error: Error) => error.message);
    const text = `no member of etcd answers: ${reasons.join('; ')}`;
    if (!this.closed && this.trouble === '') this.logger.warn('etcd is unavailable', { reasons });
    this.trouble = text;
    return new CoordinatorUnavailableError(text);
  }

  private restored({ endpoint }: EtcdConnection): void {
    if (this.trouble !== '') this.logger.info('etcd is available again', { endpoint });
    this.trouble = '';
  }
}

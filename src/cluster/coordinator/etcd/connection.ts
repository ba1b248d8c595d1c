/** A connection to one member of etcd: its requests, with the member's name in what they fail with. */
import type { Clock } from '../../../base/clock.js';
import { GrpcError, GrpcSession, Status, type TlsOptions } from './grpc.js';
import {
  type ConditionalChange,
  decodeAuthenticate,
  decodeRange,
  decodeTxn,
  decodeWatch,
  encodeAuthenticate,
  encodeGet,
  encodeRange,
  encodeSwap,
  encodeWatch,
  Method,
  type RangeAnswer,
  type TxnAnswer,
  type WatchAnswer,
} from './messages.js';

export interface ConnectionOptions {
  /** HOST:PORT. */
  endpoint: string;
  tls: TlsOptions | null;
  /** Null: etcd asks for none. */
  user: { name: string; password: string } | null;
  clock: Clock;
  /** For the connection, and for each call. */
  timeoutMs: number;
}

/** A request that failed. */
export class EtcdError extends Error {
  override readonly name = 'EtcdError';
  /** True: it was certainly not done, and will not be. False: that cannot be told. */
  readonly undone: boolean;

  constructor(message: string, undone: boolean) {
    super(message);
    this.undone = undone;
  }
}

/** A member without a leader says so at once, instead of waiting for one; and its watches end. */
const requireLeader = { hasleader: 'true' } as const;

/** Where etcd checks a request before it does anything, or refuses the result of doing it. */
const refusals: readonly number[] = [
  Status.invalidArgument,
  Status.permissionDenied,
  Status.resourceExhausted,
  Status.failedPrecondition,
  Status.unauthenticated,
];
const noLeader = 'etcdserver: no leader';
const authenticationDisabled = 'etcdserver: authentication is not enabled';

export class EtcdConnection {
  readonly endpoint: string;
  private readonly session: GrpcSession;
  private readonly timeoutMs: number;
  private metadata: Record<string, string> = requireLeader;

  private constructor(session: GrpcSession, { endpoint, timeoutMs }: ConnectionOptions) {
    this.session = session;
    this.endpoint = endpoint;
    this.timeoutMs = timeoutMs;
  }

  /** Rejects with an EtcdError if there is no connection, or the user is refused. */
  static async open(options: ConnectionOptions): Promise<EtcdConnection> {
    const { endpoint, tls, user, clock, timeoutMs } = options;
    const session = await GrpcSession.connect(endpoint, tls, clock, timeoutMs).catch((error: unknown) => {
      throw etcdError(endpoint, error);
    });
    const connection = new EtcdConnection(session, options);
    try {
      if (user !== null) await connection.authenticate(user.name, user.password);
    } catch (error) {
      connection.close();
      throw error;
    }
    return connection;
  }

  get isOpen(): boolean {
    return this.session.isOpen;
  }

  get(key: string): Promise<RangeAnswer> {
    return this.call(Method.range, encodeGet(key), decodeRange);
  }

  range(prefix: string): Promise<RangeAnswer> {
    return this.call(Method.range, encodeRange(prefix), decodeRange);
  }

  swap(changes: readonly ConditionalChange[]): Promise<TxnAnswer> {
    return this.call(Method.txn, encodeSwap(changes), decodeTxn);
  }

  /** Changes under `prefix` from that revision on; `ended` is called once, whatever ends it. */
  watch(
    prefix: string,
    fromRevision: number,
    changed: (answer: WatchAnswer) => void,
    ended: (failure: EtcdError) => void,
  ): { close(): void } {
    return this.session.stream(Method.watch, encodeWatch(prefix, fromRevision), this.metadata, {
      message: (bytes) => changed(decodeWatch(bytes)),
      ended: (failure) =>
        ended(etcdError(this.endpoint, failure ?? new GrpcError(Status.unavailable, 'the watch has ended', true))),
    });
  }

  /** Ends all calls. */
  close(): void {
    this.session.close();
  }

  private async authenticate(name: string, password: string): Promise<void> {
    try {
      const token = await this.call(Method.authenticate, encodeAuthenticate(name, password), decodeAuthenticate);
      this.metadata = { ...requireLeader, token };
    } catch (error) {
      // As etcd's own client does: so that it can be enabled under running brokers.
      if (!(error as Error).message.endsWith(authenticationDisabled)) throw error;
    }
  }

  private async call<T>(method: string, request: Buffer, decode: (answer: Buffer) => T): Promise<T> {
    try {
      return decode(await this.session.unary(method, request, this.metadata, this.timeoutMs));
    } catch (error) {
      throw etcdError(this.endpoint, error);
    }
  }
}

function etcdError(endpoint: string, error: unknown): EtcdError {
  if (!(error instanceof GrpcError)) return new EtcdError(`${endpoint}: ${String(error)}`, false);
  // Codes alone do not do: whatever stands in between may use them as well.
  const refused = error.message.startsWith('etcdserver: ') && refusals.includes(error.code);
  return new EtcdError(`${endpoint}: ${error.message}`, !error.sent || refused || error.message === noLeader);
}

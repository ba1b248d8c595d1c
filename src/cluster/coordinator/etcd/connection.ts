/** A connection to one member of etcd: its requests, with the member's name in what they fail with. Knows gRPC. */
import {
  Client,
  type ClientOptions,
  connectivityState,
  credentials,
  Metadata,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import type { MethodDefinition } from '@grpc/proto-loader';
import type { Clock } from '../../../base/clock.js';
import {
  authenticateMethod,
  type Compare,
  type Header,
  type KeyValue,
  type RangeAnswer,
  type RangeRequest,
  rangeMethod,
  type RequestOp,
  type TxnAnswer,
  txnMethod,
  type WatchAnswer,
  watchMethod,
} from './schema.js';

export interface ConnectionOptions {
  /** HOST:PORT. */
  endpoint: string;
  /** PEM texts; `ca` undefined: the authorities that Node.js trusts. Null: no TLS. */
  tls: { ca: string | undefined; certificate: string | undefined; key: string | undefined } | null;
  /** Null: etcd asks for none. */
  user: { name: string; password: string } | null;
  clock: Clock;
  /** For each call; for the first, including the connection. */
  timeoutMs: number;
}

/** A change under the condition that the key was last changed at `expect`; 0: that it does not exist. */
export interface ConditionalChange {
  key: string;
  expect: number;
  /** Null deletes. */
  value: string | null;
}

/** A request that failed. */
export class EtcdError extends Error {
  override readonly name = 'EtcdError';
  /** True: it was certainly not done, and will not be. False: that cannot be told. */
  readonly undone: boolean;
  /** True: etcd has refused it, as any member would; the connection is as good as before. */
  readonly refused: boolean;

  constructor(message: string, undone: boolean, refused = false) {
    super(message);
    this.undone = undone;
    this.refused = refused;
  }
}

const channelOptions: ClientOptions = {
  // What may be done again, and where, is for the engine to say.
  'grpc.enable_retries': 0,
  // Each its own connection, which ends with it.
  'grpc.use_local_subchannel_pool': 1,
  // A proxy for the web, in the environment, is none for etcd; nor is DNS a place for its configuration.
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
  'grpc.max_receive_message_length': 16 * 1024 * 1024,
};

/** Where etcd checks a request before it does anything. Not so with its space: it says that there is none of what it has done, too. */
const refusals: readonly number[] = [
  status.INVALID_ARGUMENT,
  status.PERMISSION_DENIED,
  status.FAILED_PRECONDITION,
  status.UNAUTHENTICATED,
];
const noLeader = 'etcdserver: no leader';
const noUser = 'etcdserver: user name is empty';
const authenticationDisabled = 'etcdserver: authentication is not enabled';

export class EtcdConnection {
  readonly endpoint: string;
  private readonly client: Client;
  private readonly clock: Clock;
  private readonly timeoutMs: number;
  private readonly metadata = new Metadata();
  private readonly watches = new Set<{ cancel(): void }>();
  private state: 'opening' | 'open' | 'closed' = 'opening';

  private constructor({ endpoint, tls, clock, timeoutMs }: ConnectionOptions) {
    const buffer = (text: string | undefined): Buffer | null => (text === undefined ? null : Buffer.from(text));
    const security = tls
      ? credentials.createSsl(buffer(tls.ca), buffer(tls.key), buffer(tls.certificate))
      : credentials.createInsecure();
    this.client = new Client(endpoint, security, channelOptions);
    this.endpoint = endpoint;
    this.clock = clock;
    this.timeoutMs = timeoutMs;
    // A member without a leader says so at once, instead of waiting for one; and its watches end.
    this.metadata.set('hasleader', 'true');
  }

  /**
   * Connects, and reads `probeKey` to see whether the member is good for anything: `answered` is told the answer's header, and
   * may throw. Rejects with an EtcdError, or with what `answered` threw.
   */
  static async open(
    options: ConnectionOptions,
    probeKey: string,
    answered: (connection: EtcdConnection, header: Header) => void,
  ): Promise<EtcdConnection> {
    const connection = new EtcdConnection(options);
    try {
      if (options.user !== null) await connection.authenticate(options.user);
      answered(connection, (await connection.get(probeKey)).header);
      connection.opened();
    } catch (error) {
      connection.close();
      throw error;
    }
    return connection;
  }

  get isOpen(): boolean {
    return this.state === 'open' && this.client.getChannel().getConnectivityState(false) === connectivityState.READY;
  }

  get(key: string): Promise<RangeAnswer> {
    return this.call(rangeMethod, { key: Buffer.from(key) });
  }

  range(prefix: string): Promise<RangeAnswer> {
    return this.call(rangeMethod, rangeOf(prefix));
  }

  /** Makes all changes if every condition holds; if not, reads what stands under each key. */
  swap(changes: readonly ConditionalChange[]): Promise<TxnAnswer> {
    return this.call(txnMethod, {
      compare: changes.map(
        ({ key, expect }): Compare => ({
          result: 'EQUAL',
          target: 'MOD',
          key: Buffer.from(key),
          modRevision: expect,
        }),
      ),
      success: changes.map(operation),
      failure: changes.map(({ key }) => ({ requestRange: { key: Buffer.from(key) } })),
    });
  }

  /** Changes under `prefix` from that revision on; `ended` is called once, whatever ends it. */
  watch(
    prefix: string,
    fromRevision: number,
    changed: (answer: WatchAnswer) => void,
    ended: (failure: EtcdError) => void,
  ): { close(): void } {
    const { path, requestSerialize, responseDeserialize } = watchMethod;
    if (!this.isOpen) {
      queueMicrotask(() => ended(this.notConnected()));
      return { close: () => {} };
    }
    const stream = this.client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, this.metadata);
    this.watches.add(stream);
    stream.on('data', changed);
    // Told by its status, too.
    stream.on('error', () => {});
    stream.once('status', ({ code, details }) => {
      this.watches.delete(stream);
      ended(this.failed(code, details));
    });
    stream.write({ createRequest: { ...rangeOf(prefix), startRevision: fromRevision } });
    return { close: () => stream.cancel() };
  }

  /** Ends its watches; calls that are under way have their time. */
  close(): void {
    this.state = 'closed';
    for (const watch of this.watches) watch.cancel();
    this.client.close();
  }

  private async authenticate(user: { name: string; password: string }): Promise<void> {
    try {
      const { token } = await this.call(authenticateMethod, user);
      this.metadata.set('token', token);
    } catch (error) {
      // As etcd's own client does: so that authentication can be enabled under running brokers.
      if (!(error as Error).message.endsWith(authenticationDisabled)) throw error;
    }
  }

  /** A channel would connect again by itself, to whoever is there then. */
  private opened(): void {
    this.state = 'open';
    this.client
      .getChannel()
      .watchConnectivityState(connectivityState.READY, Number.POSITIVE_INFINITY, () => this.close());
  }

  private async call<Request extends object, Answer extends object>(
    { path, requestSerialize, responseDeserialize }: MethodDefinition<Request, Answer>,
    request: Request,
  ): Promise<Answer> {
    if (this.state !== 'opening' && !this.isOpen) throw this.notConnected();
    const options = { deadline: this.clock.wall() + this.timeoutMs };
    return await new Promise((resolve, reject) => {
      const answered = (error: ServiceError | null, answer?: Answer): void => {
        if (error === null) resolve(answer!);
        else reject(this.failed(error.code, error.details));
      };
      this.client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        this.metadata,
        options,
        answered,
      );
    });
  }

  private notConnected(): EtcdError {
    return new EtcdError(`${this.endpoint}: not connected`, true);
  }

  private failed(code: number, details: string): EtcdError {
    // Codes alone do not do: whatever stands in between may use them as well.
    const byEtcd = details.startsWith('etcdserver: ');
    const undone = (byEtcd && refusals.includes(code)) || details === noLeader;
    const refused =
      byEtcd && (refusals.includes(code) || code === status.RESOURCE_EXHAUSTED) && !asksAnew(code, details);
    return new EtcdError(`${this.endpoint}: ${details}`, undone, refused);
  }
}

/** Its token counts no more, was given before the users were changed, or there were none then: another connection has another. */
function asksAnew(code: number, details: string): boolean {
  return code === status.UNAUTHENTICATED || details.includes('auth') || details === noUser;
}

function rangeOf(prefix: string): Required<RangeRequest> {
  const rangeEnd = Buffer.from(prefix);
  // No byte of UTF-8 is 0xff.
  rangeEnd[rangeEnd.length - 1]!++;
  return { key: Buffer.from(prefix), rangeEnd };
}

function operation({ key, value }: ConditionalChange): RequestOp {
  if (value === null) return { requestDeleteRange: { key: Buffer.from(key) } };
  return { requestPut: { key: Buffer.from(key), value: Buffer.from(value) } };
}

export function revisionOf({ modRevision }: KeyValue): number {
  return Number(modRevision);
}

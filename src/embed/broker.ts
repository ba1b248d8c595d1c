import { silentLogger } from '../base/logger.js';
import { type Endpoint, formatEndpoint } from '../config/endpoint.js';
import { Node } from '../node.js';
import { checkBroker } from './checks.js';
import {
  amqpUrlOf,
  type CommonOptions,
  type EmbeddedTls,
  endpointOf,
  inMemory,
  memoryOf,
  tlsOf,
  usersOf,
} from './options.js';

export interface EmbeddedBrokerOptions extends CommonOptions {
  /** Default `n1`. */
  node?: string;
  /** Default: 127.0.0.1, any free port. */
  amqp?: Partial<Endpoint>;
  /** Default: no HTTP. */
  http?: false | Partial<Endpoint>;
  /** AMQP and HTTP over TLS, on 127.0.0.1 and any free port unless said otherwise; default: not at all. They need `tls`. */
  amqps?: false | Partial<Endpoint>;
  https?: false | Partial<Endpoint>;
  tls?: EmbeddedTls;
  /**
   * Told if the journal fails: the broker has ended then, since it can promise nothing any more. What was confirmed is on disk.
   * Default: it is logged.
   */
  onFailure?: (reason: string) => void;
}

/**
 * One broker inside a program.
 *
 *   await using broker = await Broker.start();
 *   const connection = await amqplib.connect(broker.amqpUrl);
 */
export class Broker implements AsyncDisposable {
  private readonly inner: Node;
  private readonly options: EmbeddedBrokerOptions;

  private constructor(node: Node, options: EmbeddedBrokerOptions) {
    this.inner = node;
    this.options = options;
  }

  /**
   * Resolves when clients may connect. Rejects if a port is taken (`code` EADDRINUSE), or the folder is in use by another
   * process or belongs to another program; with RangeError if an option makes no sense.
   */
  static async start(options: EmbeddedBrokerOptions = {}): Promise<Broker> {
    checkBroker(options);
    const { data = inMemory, logger = silentLogger, onFailure, http = false, amqps = false, https = false } = options;
    const tls = tlsOf(options.tls, amqps !== false || https !== false);
    const inner = await Node.start(
      {
        node: options.node ?? 'n1',
        amqp: endpointOf(options.amqp),
        http: http === false ? null : endpointOf(http),
        amqps: amqps === false ? null : endpointOf(amqps),
        https: https === false ? null : endpointOf(https),
        tls,
        data: data === inMemory ? Node.memoryDisk() : data,
        cluster: null,
        logger,
        ...usersOf(options),
        broker: { ...memoryOf(options), replicas: 1, minInSync: 1 },
      },
      (reason) => {
        logger.error('the broker ends', { reason });
        const tell = (): void => onFailure?.(reason);
        inner.kill().then(tell, tell);
      },
    );
    return new Broker(inner, options);
  }

  get node(): string {
    return this.inner.name;
  }

  /** Port of AMQP. */
  get port(): number {
    return this.inner.amqp!.port;
  }

  /** For clients of this machine, as the first of the users. */
  get amqpUrl(): string {
    return amqpUrlOf(this.options, this.inner.amqp!);
  }

  /** The same over TLS; '' without. */
  get amqpsUrl(): string {
    const { amqps } = this.inner;
    return amqps === null ? '' : amqpUrlOf(this.options, amqps, 'amqps');
  }

  /** '' without HTTP over TLS. */
  get httpsUrl(): string {
    return this.inner.https === null ? '' : `https://${formatEndpoint(this.inner.https)}`;
  }

  /** Reads the files of `tls` now; by itself it looks every two seconds. What cannot be used is logged, and the old ones stay. */
  reloadCertificates(): Promise<void> {
    return this.inner.reloadCertificates();
  }

  /** '' without HTTP. */
  get httpUrl(): string {
    return this.inner.http === null ? '' : `http://${formatEndpoint(this.inner.http)}`;
  }

  /** Clients get connection.close, what was acknowledged is on disk. Idempotent. */
  stop(): Promise<void> {
    return this.inner.stop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

import type { Logger } from '../base/logger.js';
import type { BrokerOptions } from '../broker-options.js';
import { type Endpoint, formatEndpoint } from '../config/endpoint.js';
import { tlsSettings } from '../config/tls.js';
import type { ClientCheck, LoginPart, TlsOptions } from '../security/tls-options.js';
import { brokerDefaults } from '../broker-options.js';
import type { NodeOptions } from '../node.js';

/** What one broker and a whole cluster may both be told. */
export interface CommonOptions {
  /** `memory` (the default), or a folder, which is made if it is not there. */
  data?: string;
  /** Bytes of memory for a broker's messages; beyond it they live on disk only. Default 256 MiB. */
  memoryBytes?: number;
  /** Publishers of all brokers of the cluster wait while this process uses more, the program's own memory included. Default: never. */
  memoryHighWatermarkBytes?: number;
  /** Default: nothing is logged. */
  logger?: Logger;
  /**
   * Passwords by user name. They are always there, may do everything, and need not be made elsewhere. Default: the users that the
   * broker's data have, which begin with guest/guest.
   */
  users?: Readonly<Record<string, string>>;
  /** Users who may connect from this machine only; default `['guest']`. */
  loopbackUsers?: readonly string[];
}

/** Certificates for clients over TLS; PEM files, which are read again when they change. */
export interface EmbeddedTls {
  certificate: string;
  key: string;
  /** The authority of clients' certificates. */
  ca?: string;
  /** Whether clients must show one; default `none`. */
  clients?: ClientCheck;
  /** What of it names the user, for SASL EXTERNAL; default `distinguished-name`. */
  loginFrom?: LoginPart;
}

/** Throws RangeError. @param isUsed something is listened for over TLS */
export function tlsOf(tls: EmbeddedTls | undefined, isUsed: boolean): TlsOptions | null {
  const { loginFrom, ...raw } = tls ?? {};
  return tlsSettings(isUsed, { ...raw, 'login-from': loginFrom });
}

/** Host 127.0.0.1 and any free port unless said otherwise. */
export function endpointOf(given: Partial<Endpoint> | undefined): Endpoint {
  return { host: given?.host ?? '127.0.0.1', port: given?.port ?? 0 };
}

/** Who may come, and from where. */
export function usersOf(options: CommonOptions): Pick<NodeOptions, 'users' | 'loopbackUsers' | 'anonymousUser'> {
  const { users, loopbackUsers = ['guest'] } = options;
  return { users: users === undefined ? undefined : new Map(Object.entries(users)), loopbackUsers, anonymousUser: '' };
}

/** With the name and password of the first user. */
export function amqpUrlOf(options: CommonOptions, endpoint: Endpoint, scheme: 'amqp' | 'amqps' = 'amqp'): string {
  const [[user, password] = ['', '']] = Object.entries(options.users ?? { guest: 'guest' });
  return `${scheme}://${encodeURIComponent(user)}:${encodeURIComponent(password)}@${formatEndpoint(endpoint)}`;
}

export function memoryOf(options: CommonOptions): Partial<BrokerOptions> {
  const { memoryBytes, memoryHighBytes } = brokerDefaults;
  return {
    memoryBytes: options.memoryBytes ?? memoryBytes,
    memoryHighBytes: options.memoryHighWatermarkBytes ?? memoryHighBytes,
  };
}

export const inMemory = 'memory';

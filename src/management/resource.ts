import type { BrokerNode } from '../broker-node.js';
import type { Authenticator } from '../security/authenticator.js';
import type { Person } from '../security/realm.js';
import type { Need } from './tags.js';

export interface ResourceRequest {
  broker: BrokerNode;
  /** Parts of the path by name, decoded. */
  parameters: Record<string, string>;
  /** What a change was sent with: a JSON object, empty if there was none. */
  body: Record<string, unknown>;
  /** Who asks, for the log: user and address. */
  asker: string;
  person: Person;
  /** Whoever asks may know of the vhost. */
  sees(vhost: string): boolean;
  /** May look at what is in it. */
  enters(vhost: string): boolean;
  security: Authenticator;
}

/** An answer without a body, other than 200. */
export class Done {
  readonly status: number;

  constructor(status: number) {
    this.status = status;
  }
}

/** Returns what is sent as JSON, or `Done`, or a promise of it. Throws, or rejects with, HttpError or RefusedError. */
export type Handler = (request: ResourceRequest) => unknown;

/** Something that can be read or changed under a path. */
export interface Resource {
  /** With `:name` for parameters. */
  path: string;
  /** Who may look at it, and who may change it. */
  needs: readonly [toLook: Need, toChange: Need];
  /** It is about the vhost of its path, not what is in there: monitors see it too. */
  isOpen?: boolean;
  get?: Handler;
  post?: Handler;
  put?: Handler;
  delete?: Handler;
}

/** An answer other than 200. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  readonly code: string;
  readonly headers: Record<string, string>;

  constructor(status: number, code: string, reason: string, headers: Record<string, string> = {}) {
    super(reason);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** Until the node has entered the cluster there is nothing to tell. */
export function requireStarted(broker: BrokerNode): void {
  const waits = broker.restoration?.waitsFor ?? '';
  if (waits !== '') throw new HttpError(503, 'waiting', waits);
  if (broker.report === undefined) {
    throw new HttpError(503, 'starting', `node ${broker.options.node} is starting: try again`);
  }
}

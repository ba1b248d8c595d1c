import type { IncomingMessage } from 'node:http';
import { Refusal, type RefusedError } from '../base/errors.js';
import type { BrokerNode } from '../broker-node.js';
import type { Authenticator } from '../security/authenticator.js';
import type { Person } from '../security/realm.js';
import type { Pace } from './pace.js';
import type { Need } from './tags.js';

export interface ResourceRequest {
  broker: BrokerNode;
  /** Parts of the path by name, decoded. */
  parameters: Record<string, string>;
  /** What a change was sent with: a JSON object, empty if there was none. */
  body: Record<string, unknown>;
  /** What it was sent with, as it comes: of a resource that reads it itself. */
  incoming: IncomingMessage;
  /** What stands behind the path's question mark. */
  query: URLSearchParams;
  /** Of what takes many steps. */
  pace: Pace;
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
  readonly headers: Record<string, string>;

  constructor(status: number, headers: Record<string, string> = {}) {
    this.status = status;
    this.headers = headers;
  }
}

/** An answer of any length, as its parts are made: JSON, all together. */
export class Streamed {
  readonly parts: AsyncIterable<string>;
  readonly headers: Record<string, string>;

  constructor(parts: AsyncIterable<string>, headers: Record<string, string> = {}) {
    this.parts = parts;
    this.headers = headers;
  }
}

/** Returns what is sent as JSON, or `Done`, or `Streamed`, or a promise of it. Throws, or rejects with, HttpError or RefusedError. */
export type Handler = (request: ResourceRequest) => unknown;

/** Something that can be read or changed under a path. */
export interface Resource {
  /** With `:name` for parameters. */
  path: string;
  /** Who may look at it, and who may change it. */
  needs: readonly [toLook: Need, toChange: Need];
  /** It is about the vhost of its path, not what is in there: monitors see it too. */
  isOpen?: boolean;
  /** What changes are sent with is no small object: the handler reads it. */
  readsItself?: boolean;
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
  /** What is sent as JSON. */
  readonly body: Record<string, unknown>;

  constructor(
    status: number,
    code: string,
    reason: string,
    headers: Record<string, string> = {},
    body: Record<string, unknown> = { error: code, reason },
  ) {
    super(reason);
    this.status = status;
    this.code = code;
    this.headers = headers;
    this.body = body;
  }
}

/** What the wiring refuses, by RabbitMQ's statuses; who does not answer is unavailable, and may be asked again. */
export function httpError({ kind, message }: RefusedError): HttpError {
  switch (kind) {
    case Refusal.notFound:
      return new HttpError(404, 'not_found', message);
    case Refusal.accessRefused:
      return new HttpError(401, 'not_authorised', message);
    case Refusal.internalError:
    case Refusal.resourceError:
      return new HttpError(503, 'unavailable', message);
    default:
      return new HttpError(400, 'bad_request', message);
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

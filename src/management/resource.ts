import type { BrokerNode } from '../broker-node.js';

export interface ResourceRequest {
  broker: BrokerNode;
  /** Parts of the path by name, decoded. */
  parameters: Record<string, string>;
}

/** Something that can be read under a path. */
export interface Resource {
  /** With `:name` for parameters. */
  path: string;
  /** What is sent as JSON. Throws HttpError or RefusedError. */
  get(request: ResourceRequest): unknown;
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
  if (broker.report === undefined) {
    throw new HttpError(503, 'starting', `node ${broker.options.node} is starting: try again`);
  }
}

/** What the commands ask of a node over HTTP. Loaded by those that need it. */
import type { ClientPolicy, Placement } from '../cluster/map.js';
import type { GroupReport, MemberReport } from '../cluster/report.js';

/** The answer of `GET /api/cluster`. */
export interface ClusterView {
  id: string;
  /** The node that was asked. */
  node: string;
  replicas: number;
  minInSync: number;
  clients: ClientPolicy;
  placement: Placement;
  /** The protocol version that the cluster speaks: the lowest of its members'. */
  protocol: number;
  /** Every member is ready and every group has its replicas in sync. */
  complete: boolean;
  members: MemberReport[];
  groups: GroupReport[];
}

/** Nobody answers there, or not as an Understudy node does. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** A later try may succeed: the node is starting, or not there yet. */
  readonly passing: boolean;

  constructor(message: string, passing: boolean) {
    super(message);
    this.passing = passing;
  }
}

/** One request of a node's API. Resolves to the answer's body, undefined if it has none; rejects with ApiError. */
export async function callApi(
  url: URL,
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  options: { body?: object; timeoutMs?: number } = {},
): Promise<unknown> {
  const { body, timeoutMs = 3000 } = options;
  let response: Response;
  let answer: unknown;
  try {
    response = await fetch(new URL(path, `${url.protocol}//${url.host}`), {
      method,
      headers: { ...authorization(url), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await response.text();
    answer = text === '' ? undefined : JSON.parse(text);
  } catch (error) {
    throw unanswered(url, error);
  }
  if (response.ok) return answer;
  throw refused(url, response, answer);
}

/**
 * A request with much in it, or in its answer: what is sent and what comes are not held in memory. Resolves when the answer begins; rejects
 * with ApiError.
 */
export async function streamApi(
  url: URL,
  method: 'GET' | 'POST',
  path: string,
  body?: AsyncIterable<Uint8Array>,
): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(new URL(path, `${url.protocol}//${url.host}`), {
      method,
      headers: { ...authorization(url), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: body as unknown as ReadableStream, duplex: 'half' }),
      signal: AbortSignal.timeout(streamTimeoutMs),
    } as RequestInit);
  } catch (error) {
    throw unanswered(url, error);
  }
  if (response.ok) return response;
  const text = await response.text().catch(() => '');
  throw refused(url, response, text === '' ? undefined : JSON.parse(text));
}

/** A hundred thousand queues take a minute or so. */
const streamTimeoutMs = 1_800_000;

function authorization(url: URL): { authorization: string } {
  const user = decodeURIComponent(url.username || 'guest');
  const password = decodeURIComponent(url.password || 'guest');
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
}

function unanswered(url: URL, error: unknown): ApiError {
  const cause = (error as Error).cause ?? error;
  return new ApiError(`no node answers at ${url.protocol}//${url.host}: ${(cause as Error).message}`, true);
}

function refused(url: URL, response: Response, answer: unknown): ApiError {
  const { reason } = (answer ?? {}) as { reason?: string };
  return new ApiError(`${url.host} refuses: ${reason ?? response.status}`, response.status === 503);
}

/** @param url `http://[user:password@]HOST:PORT`. Rejects with ApiError. */
export async function fetchCluster(url: URL, timeoutMs = 3000): Promise<ClusterView> {
  return (await callApi(url, 'GET', '/api/cluster', { timeoutMs })) as ClusterView;
}

/** Every member is ready and can be connected to, every group has its replicas. */
export function isComplete(view: ClusterView): boolean {
  return view.complete && view.members.every(({ amqp, amqps }) => amqp !== '' || amqps !== undefined);
}

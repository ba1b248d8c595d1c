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

/** @param url `http://[user:password@]HOST:PORT`. Rejects with ApiError. */
export async function fetchCluster(url: URL, timeoutMs = 3000): Promise<ClusterView> {
  const user = decodeURIComponent(url.username || 'guest');
  const password = decodeURIComponent(url.password || 'guest');
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  let response: Response;
  let body: unknown;
  try {
    const target = new URL('/api/cluster', `${url.protocol}//${url.host}`);
    response = await fetch(target, { headers: { authorization }, signal: AbortSignal.timeout(timeoutMs) });
    body = await response.json();
  } catch (error) {
    const cause = (error as Error).cause ?? error;
    throw new ApiError(`no node answers at ${url.protocol}//${url.host}: ${(cause as Error).message}`, true);
  }
  if (response.ok) return body as ClusterView;
  const { reason } = body as { reason?: string };
  throw new ApiError(`${url.host} refuses: ${reason ?? response.status}`, response.status === 503);
}

/** Every member is ready and can be connected to, every group has its replicas. */
export function isComplete(view: ClusterView): boolean {
  return view.complete && view.members.every((member) => member.amqp !== '');
}

import { type Attach, Descriptor } from './codec/index.js';
import { ResumableTarget, type ResumableTargetLink } from './resumable-target.js';
import { acceptedValue, answerUnsettled, settleSecond, timeoutOf, unsettledOf } from './resumption.js';
import { noOutcomes } from '../model/terminus/port.js';
import type { SessionHost } from './session-host.js';

export interface OpenedTarget {
  /** Undefined: it cannot be resumed. */
  readonly resumable: ResumableTarget | undefined;
  readonly timeoutMs: number | undefined;
  /** Puts into the answer what both ends have. */
  complete(reply: Attach): void;
}

/**
 * Attaches the link's target, if its client wants to resume it. Undefined: it does not.
 * @param queue undefined: messages go elsewhere than into one queue
 */
export async function openTarget(
  host: SessionHost,
  link: ResumableTargetLink & { readonly name: string },
  request: Attach,
  queue: string | undefined,
): Promise<OpenedTarget | undefined> {
  const { target, rcvSettleMode } = request;
  const timeoutMs = target?.descriptor === Descriptor.target ? timeoutOf(target) : undefined;
  if (timeoutMs === undefined) return undefined;
  const none = { resumable: undefined, timeoutMs: undefined, complete: (): void => {} };
  const { broker, vhost, user, container } = host;
  if (queue === undefined || link.name === '' || container === '') return none;
  const asked = { vhost, queue, user, container, link: link.name, toClient: false, timeoutMs, outcomes: noOutcomes };
  const terminus = await broker.termini.attach(asked);
  if (terminus === undefined) return none;
  const known = unsettledOf(request);
  const tags = terminus.unsettled as readonly string[];
  const both = tags.filter((tag) => known.has(tag));
  // What the client has forgotten is settled, unless it did not say all.
  if (!request.incompleteUnsettled) for (const tag of tags) if (!known.has(tag)) terminus.forget(tag);
  const resumable = new ResumableTarget(host, link, terminus, rcvSettleMode === settleSecond, both);
  resumable.isPartial = request.incompleteUnsettled;
  const complete = (reply: Attach): void => {
    answerUnsettled(reply, both, acceptedValue, host.frames.frameMax);
    if (reply.incompleteUnsettled) resumable.isPartial = true;
  };
  return { resumable, timeoutMs, complete };
}

import { noOutcomes } from '../model/terminus/port.js';
import type { Attach, Source } from './codec/index.js';
import { ResumableSource, type ResumableSourceLink } from './resumable-source.js';
import { answerUnsettled, granted, outcomesIn, positionOf, timeoutOf, unsettledOf } from './resumption.js';
import type { SessionHost } from './session-host.js';
import type { SourceNode } from './source-node.js';

export interface OpenedSource {
  /** Undefined: it cannot be resumed. */
  readonly resumable: ResumableSource | undefined;
  readonly timeoutMs: number | undefined;
  /** Of what is unsettled here, what the client does not have. */
  readonly lost: readonly number[];
  /** Puts into the answer what both ends have. */
  complete(reply: Attach): void;
}

/** Attaches the link's source, if its client wants to resume it. Undefined: it does not, or the source is one that is kept otherwise. */
export async function openSource(
  host: SessionHost,
  link: ResumableSourceLink & { readonly name: string; readonly settlesAtOnce: boolean },
  request: Attach,
  { queue, isPlain, isKept }: SourceNode,
): Promise<OpenedSource | undefined> {
  const timeoutMs = isKept || request.source === undefined ? undefined : timeoutOf(request.source);
  if (timeoutMs === undefined) return undefined;
  const none = { resumable: undefined, timeoutMs: undefined, lost: [], complete: (): void => {} };
  const { broker, vhost, user, container } = host;
  if (!isPlain || link.name === '' || container === '' || link.settlesAtOnce) return none;
  const outcomes = request.unsettled === undefined ? noOutcomes : outcomesIn(request);
  const asked = { vhost, queue, user, container, link: link.name, toClient: true, timeoutMs, outcomes };
  const terminus = await broker.termini.attach(asked);
  if (terminus === undefined) return none;
  const known = new Set<number>();
  for (const tag of unsettledOf(request).keys()) {
    const position = positionOf(tag);
    if (position !== undefined) known.add(position);
  }
  const ours = terminus.unsettled as readonly number[];
  const both = ours.filter((position) => known.has(position)).sort((a, b) => a - b);
  const lost = request.incompleteUnsettled ? [] : ours.filter((position) => !known.has(position));
  const resumable = new ResumableSource(host, link, terminus, both);
  resumable.isPartial = request.incompleteUnsettled;
  const complete = (reply: Attach): void => {
    const left = answerUnsettled(reply, both, () => null, host.frames.frameMax) as readonly number[];
    resumable.leaveOut(left);
  };
  return { resumable, timeoutMs, lost, complete };
}

/** The source of an answer. */
export function answeredSource(source: Source, opened: OpenedSource | undefined): Source {
  return opened === undefined ? source : granted(source, opened.timeoutMs);
}

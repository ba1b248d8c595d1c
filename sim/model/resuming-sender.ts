/**
 * A client that sends through a link that it resumes (docs/adr/0013): its deliveries are to be in the queue exactly once, whatever becomes
 * of its connection, its node and the queue's primary.
 *
 *   client ── pipe of one attachment (its node) ──▶ log of the primary ──▶ commit ──▶ outcome, or the answer to an attach
 *
 * A pipe keeps what is not committed, and says it again to the next primary, in order (rule 14). The pipe of an attachment that is over
 * goes on, for its node does not know better, until the node dies.
 */
import { copy, type Model } from './explore.js';

export interface SenderRules {
  /** The log takes nothing of an attachment behind another one's attach. */
  fence: boolean;
  /** Of whose deliveries the log takes nothing any more is told so, and attaches anew. */
  fencedAreTold: boolean;
  /** What an attach is answered is read when it is committed, and with it all that is before it. */
  answerCommitted: boolean;
  /** Message and entry of the link's map are one batch. */
  together: boolean;
  /** The entry is kept until the client has settled; else until the outcome was told. */
  keepUntilSettled: boolean;
}

export const allSenderRules: SenderRules = {
  fence: true,
  fencedAreTold: true,
  answerCommitted: true,
  together: true,
  keepUntilSettled: true,
};

interface Item {
  kind: 'attach' | 'message' | 'entry' | 'settle' | 'dropped';
  /** The attachment it is of. */
  of: number;
  message: number;
}

interface Pipe {
  items: Item[];
  /** So many of them are in the log. */
  logged: number;
}

interface State {
  /** Connections that the client has lost. */
  losses: number;
  /** The client's attachment, and whether it was answered. */
  attachment: number;
  isAttached: boolean;
  /** By message: 0 = not sent on this attachment, 1 = sent, 2 = settled. */
  messages: number[];
  pipes: Pipe[];
  log: Item[];
  committed: number;
  failovers: number;
}

export interface SenderBounds {
  messages: number;
  attachments: number;
  failovers: number;
}

export function resumingSender(rules: SenderRules, bounds: SenderBounds): Model<State> {
  return {
    init: () => ({
      losses: 0,
      attachment: 0,
      isAttached: false,
      messages: new Array<number>(bounds.messages).fill(0),
      pipes: [pipeOf(0)],
      log: [],
      committed: 0,
      failovers: 0,
    }),
    next: (state, emit) => steps(rules, bounds, state, emit),
    check: (state, isEnd) => judge(state, isEnd),
  };
}

function pipeOf(attachment: number): Pipe {
  return { items: [{ kind: 'attach', of: attachment, message: 0 }], logged: 0 };
}

function steps(
  rules: SenderRules,
  bounds: SenderBounds,
  state: State,
  emit: (label: string, state: State) => void,
): void {
  const step = (label: string, change: (next: State) => void): void => {
    const next = copy(state);
    change(next);
    emit(label, next);
  };
  const known = committed(state);
  if (state.isAttached) clientSteps(rules, state, known, step);
  else if (isAnswered(rules, state)) step('the attach is answered', (next) => resume(rules, next, known));
  for (const [index, pipe] of state.pipes.entries())
    if (pipe.logged < pipe.items.length) step(`pipe ${index} goes on`, (next) => log(rules, next, next.pipes[index]!));
  if (state.committed < state.log.length) step('commit', (next) => commit(next));
  const isStolenNow = isStolen(rules, state);
  if (state.losses < bounds.attachments || isStolenNow)
    step(isStolenNow ? 'the client attaches anew, for its link was stolen' : 'the client attaches anew', (next) => {
      if (!isStolenNow) next.losses++;
      next.attachment++;
      next.isAttached = false;
      next.pipes.push(pipeOf(next.attachment));
    });
  // The node of an attachment that is over dies.
  for (let index = 0; index < state.attachment; index++)
    if (state.pipes[index]!.items.length > 0)
      step(`the node of pipe ${index} dies`, (next) => {
        next.pipes[index] = { items: [], logged: 0 };
      });
  if (state.failovers < bounds.failovers)
    for (let end = state.committed; end <= state.log.length; end++)
      step(`another primary, which has ${end} records`, (next) => {
        next.failovers++;
        next.log.length = end;
        for (const pipe of next.pipes) pipe.logged = 0;
      });
}

function clientSteps(
  rules: SenderRules,
  state: State,
  known: readonly Item[],
  step: (label: string, change: (next: State) => void) => void,
): void {
  for (const [message, stage] of state.messages.entries()) {
    if (stage === 0)
      step(`message ${message} is sent`, (next) => {
        next.messages[message] = 1;
        push(next, rules.together ? ['message'] : ['message', 'entry'], message);
      });
    const isKnown = known.some((item) => isMessage(item, message) && item.of === state.attachment);
    if (stage === 1 && isKnown && rules.keepUntilSettled)
      step(`message ${message} is accepted, and settled by the client`, (next) => settle(next, message));
    // Without the rule the broker forgets before the client knows.
    if (stage === 1 && isKnown && !rules.keepUntilSettled && !isForgotten(state, message))
      step(`the outcome of message ${message} leaves`, (next) => push(next, ['settle'], message));
  }
}

function isForgotten({ pipes, log }: State, message: number): boolean {
  const settles = (item: Item): boolean => item.kind === 'settle' && item.message === message;
  return log.some(settles) || pipes.some(({ items }) => items.some(settles));
}

function push(next: State, kinds: readonly Item['kind'][], message: number): void {
  const { attachment } = next;
  for (const kind of kinds) next.pipes[attachment]!.items.push({ kind, of: attachment, message });
}

function settle(next: State, message: number): void {
  next.messages[message] = 2;
  push(next, ['settle'], message);
}

function committed({ log, committed: end }: State): readonly Item[] {
  return log.slice(0, end);
}

function isMessage({ kind, message }: Item, which: number): boolean {
  return kind === 'message' && message === which;
}

function isAnswered(rules: SenderRules, { attachment, log, committed: end }: State): boolean {
  const at = log.findIndex(({ kind, of }) => kind === 'attach' && of === attachment);
  return at >= 0 && (!rules.answerCommitted || at < end);
}

/** Whose the link is: that attach is the last in the log, which may be an older one that was late. */
function newest(log: readonly Item[]): number {
  return log.findLast(({ kind }) => kind === 'attach')?.of ?? -1;
}

/** Another attachment has the client's link: it is told so, and attaches anew. */
function isStolen(rules: SenderRules, { attachment, log, committed: end }: State): boolean {
  const isDropped = ({ kind, of }: Item): boolean => kind === 'dropped' && of === attachment;
  return rules.fencedAreTold && log.slice(0, end).some(isDropped);
}

/** The client learns which of its deliveries are there. */
function resume(rules: SenderRules, next: State, known: readonly Item[]): void {
  next.isAttached = true;
  for (const [message, stage] of next.messages.entries()) {
    if (stage === 2) continue;
    const entry = rules.together ? 'message' : 'entry';
    const isThere = known.some((item) => item.kind === entry && item.message === message);
    const isGone = known.some((item) => item.kind === 'settle' && item.message === message);
    if (isThere && !isGone) settle(next, message);
    else next.messages[message] = 0;
  }
}

/** The primary takes the pipe's next item. */
function log(rules: SenderRules, next: State, pipe: Pipe): void {
  const item = pipe.items[pipe.logged++]!;
  if (next.log.some((one) => same(one, item))) return;
  const isOver = item.kind !== 'attach' && newest(next.log) !== item.of;
  next.log.push(isOver && rules.fence ? { ...item, kind: 'dropped' } : item);
}

function same(one: Item, other: Item): boolean {
  return one.kind === other.kind && one.of === other.of && one.message === other.message;
}

function commit(next: State): void {
  const item = next.log[next.committed++]!;
  const pipe = next.pipes[item.of]!;
  // Items of a pipe come into the log in order.
  const isOfPipe = pipe.logged > 0 && (item.kind === 'dropped' || same(pipe.items[0]!, item));
  if (!isOfPipe) return;
  pipe.items.shift();
  pipe.logged--;
}

function judge(state: State, isEnd: boolean): string {
  for (const [message, stage] of state.messages.entries()) {
    const copies = committed(state).filter((item) => isMessage(item, message)).length;
    if (copies > 1) return `message ${message} is there twice`;
    if (stage === 2 && copies === 0) return `message ${message} is settled, and not there`;
    if (isEnd && stage !== 2) return `message ${message} never gets an outcome`;
  }
  return '';
}

/**
 * A client that receives through a link that it resumes, settling second (docs/adr/0013), beside another client of the queue: each message
 * is worked on exactly once, whatever becomes of the connection and of the queue's primary.
 *
 *   acquire ─ commit ─▶ transfer ─▶ the client works, and accepts ─▶ ack ─ commit ─▶ told: the client forgets
 *
 * The client knows deliveries that it has not forgotten, and does not work on them again. The other client takes what is free, and holds it
 * for ever; its node names what it holds to every primary (rule 13).
 */
import { copy, type Model } from './explore.js';

export interface ReceiverRules {
  /** A delivery goes out when its acquire is committed. */
  acquireFirst: boolean;
  /** The next primary leaves what a link has acquired to it. */
  keepAcquired: boolean;
  /** That it is accepted is told when it is committed. */
  tellCommitted: boolean;
  /** What a link gives up is free when that is committed. */
  freeCommitted: boolean;
  /** A resumed link gives up only what its client does not know. */
  heedMap: boolean;
}

export const allReceiverRules: ReceiverRules = {
  acquireFirst: true,
  keepAcquired: true,
  tellCommitted: true,
  freeCommitted: true,
  heedMap: true,
};

interface Item {
  kind: 'acquire' | 'ack' | 'release';
  message: number;
}

interface State {
  attachment: number;
  /** By message: what the client knows. */
  known: ('' | 'worked')[];
  worked: number[];
  /** Sent on this attachment. */
  sent: boolean[];
  /** What is on its way to the primary. */
  said: Item[];
  /** Who holds it, as the primary sees it: '', link, other, gone. */
  holder: string[];
  /** What the other client holds. */
  others: boolean[];
  log: Item[];
  committed: number;
  failovers: number;
}

export interface ReceiverBounds {
  messages: number;
  attachments: number;
  failovers: number;
}

export function resumingReceiver(rules: ReceiverRules, bounds: ReceiverBounds): Model<State> {
  const all = <T>(value: T): T[] => new Array<T>(bounds.messages).fill(value);
  return {
    init: () => ({
      attachment: 0,
      known: all<'' | 'worked'>(''),
      worked: all(0),
      sent: all(false),
      said: [],
      holder: all(''),
      others: all(false),
      log: [],
      committed: 0,
      failovers: 0,
    }),
    next: (state, emit) => steps(rules, bounds, state, emit),
    check: (state, isEnd) => judge(state, isEnd),
  };
}

function steps(
  rules: ReceiverRules,
  bounds: ReceiverBounds,
  state: State,
  emit: (label: string, state: State) => void,
): void {
  const step = (label: string, change: (next: State) => void): void => {
    const next = copy(state);
    change(next);
    emit(label, next);
  };
  for (const message of state.known.keys()) messageSteps(rules, state, message, step);
  if (state.said.length > 0) step('the primary hears of it', (next) => hear(rules, next, next.said.shift()!));
  if (state.committed < state.log.length) step('commit', (next) => commit(rules, next));
  if (state.attachment < bounds.attachments) step('the client attaches anew', (next) => attach(rules, next));
  if (state.failovers < bounds.failovers)
    for (let end = state.committed; end <= state.log.length; end++)
      step(`another primary, which has ${end} records`, (next) => takeOver(rules, next, end));
}

function messageSteps(
  rules: ReceiverRules,
  state: State,
  message: number,
  step: (label: string, change: (next: State) => void) => void,
): void {
  const log = state.log.slice(0, rules.acquireFirst ? state.committed : state.log.length);
  if (state.holder[message] === '') {
    step(`the link acquires ${message}`, (next) => {
      next.holder[message] = 'link';
      next.sent[message] = false;
      next.log.push({ kind: 'acquire', message });
    });
    step(`the other client gets ${message}`, (next) => {
      next.holder[message] = 'other';
      next.others[message] = true;
      next.worked[message]!++;
    });
  }
  if (state.holder[message] === 'link' && !state.sent[message] && isAcquired(log, message))
    step(`${message} goes out`, (next) => {
      next.sent[message] = true;
      if (next.known[message] === '') next.worked[message]!++;
      next.known[message] = 'worked';
      next.said.push({ kind: 'ack', message });
    });
  const isDone = state.log
    .slice(0, rules.tellCommitted ? state.committed : undefined)
    .some((item) => isAck(item, message));
  if (isDone && state.known[message] !== '')
    step(`the client hears that ${message} is settled`, (next) => {
      next.known[message] = '';
    });
}

function isAck({ kind, message }: Item, which: number): boolean {
  return kind === 'ack' && message === which;
}

function isAcquired(log: readonly Item[], message: number): boolean {
  const last = log.findLast((item) => item.message === message);
  return last?.kind === 'acquire';
}

function hear(rules: ReceiverRules, next: State, item: Item): void {
  const { message } = item;
  if (next.holder[message] !== 'link') return;
  next.log.push(item);
  if (item.kind === 'ack') next.holder[message] = 'gone';
  else next.holder[message] = rules.freeCommitted ? 'leaving' : '';
}

function commit(rules: ReceiverRules, next: State): void {
  const { kind, message } = next.log[next.committed++]!;
  if (kind === 'release' && rules.freeCommitted && next.holder[message] === 'leaving') next.holder[message] = '';
}

/** What is on its way from the older attachment does not count any more (it is behind the attach in the primary's eyes). */
function attach(rules: ReceiverRules, next: State): void {
  next.attachment++;
  next.said = [];
  for (const message of next.known.keys()) {
    if (next.holder[message] !== 'link') continue;
    next.sent[message] = true;
    next.said.push({ kind: next.known[message] === 'worked' && rules.heedMap ? 'ack' : 'release', message });
  }
}

function takeOver(rules: ReceiverRules, next: State, end: number): void {
  next.failovers++;
  next.log.length = end;
  for (const message of next.known.keys()) {
    const last = next.log.findLast((item) => item.message === message);
    if (last?.kind === 'ack') next.holder[message] = 'gone';
    else if (last?.kind === 'acquire' && rules.keepAcquired) next.holder[message] = 'link';
    else next.holder[message] = next.others[message] ? 'other' : '';
  }
  // The client attaches its link to the new primary; its node says again what was not answered.
  attach(rules, next);
  next.attachment--;
}

function judge(state: State, isEnd: boolean): string {
  for (const [message, worked] of state.worked.entries()) {
    if (worked > 1) return `message ${message} is worked on twice`;
    if (isEnd && worked === 0) return `message ${message} is never worked on`;
    if (isEnd && !state.others[message] && state.holder[message] !== 'gone')
      return `message ${message} stays in the queue`;
  }
  return '';
}

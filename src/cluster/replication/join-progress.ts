import type { Clock } from '../../base/clock.js';

/** How far a join is, for people. */
export interface JoinStatus {
  /** Of the messages that the primary had when it named its queues, those that are compared, 0 to 100. */
  percent: number;
  queuesDone: number;
  queues: number;
  /** Received so far. */
  messages: number;
  bytes: number;
  /** To be compared, and what is likely to be received with them; null: nobody can tell yet. */
  messagesLeft: number;
  bytesLeft: number | null;
  /** Messages compared, and bytes received, a second, lately. */
  messagesPerSecond: number;
  bytesPerSecond: number;
  /** Null: nobody can tell. */
  secondsLeft: number | null;
}

/** Rates are of the last 5 to 10 s. */
const windowMs = 5000;

/** What was done at some time. */
interface Mark {
  at: number;
  compared: number;
  bytes: number;
}

/** Counts what a joiner does. Consumers take messages meanwhile: there may be fewer left than it says, never more. */
export class JoinProgress {
  queuesDone = 0;
  queues = 0;
  /** Messages at the primary. */
  private total = 0;
  private compared = 0;
  private messages = 0;
  private bytes = 0;
  private readonly clock: Clock;
  /** Where the present rates begin, and where the next ones will. */
  private before: Mark;
  private next: Mark;

  constructor(clock: Clock) {
    this.clock = clock;
    this.before = { at: clock.now(), compared: 0, bytes: 0 };
    this.next = this.before;
  }

  /** The primary has named some queues, with so many messages. */
  named(queues: number, messages: number): void {
    this.queues += queues;
    this.total += messages;
  }

  /** One answer: so many of the primary's messages were compared, and this much of them received. */
  answered(compared: number, messages: number, bytes: number): void {
    this.compared += compared;
    this.messages += messages;
    this.bytes += bytes;
    this.mark();
  }

  status(): JoinStatus {
    const now = this.mark();
    const { queues, queuesDone, total, compared, messages, bytes, before } = this;
    const messagesLeft = Math.max(0, total - compared);
    const seconds = Math.max(now - before.at, 1) / 1000;
    const messagesPerSecond = (compared - before.compared) / seconds;
    const done = queues === 0 ? 0 : queuesDone / queues;
    return {
      percent: Math.floor(100 * Math.min(1, total === 0 ? done : compared / total)),
      queuesDone,
      queues,
      messages,
      bytes,
      messagesLeft,
      bytesLeft: messagesLeft === 0 ? 0 : compared === 0 ? null : Math.round((messagesLeft * bytes) / compared),
      messagesPerSecond: Math.round(messagesPerSecond),
      bytesPerSecond: Math.round((bytes - before.bytes) / seconds),
      secondsLeft:
        messagesLeft === 0 ? 0 : messagesPerSecond === 0 ? null : Math.ceil(messagesLeft / messagesPerSecond),
    };
  }

  /** Returns the time. */
  private mark(): number {
    const now = this.clock.now();
    if (now - this.next.at >= windowMs) {
      this.before = this.next;
      this.next = { at: now, compared: this.compared, bytes: this.bytes };
    }
    return now;
  }
}

/** The journal's state: 'ok', 'full' (it must wait, or soon) or 'failed' for good; with the reason in words, and who must know. */
import type { Logger } from '../base/logger.js';
import type { JournalState } from '../log/journal.js';

export type StateListener = (state: JournalState, reason: string) => void;

export class JournalHealth {
  state: JournalState = 'ok';
  reason = '';
  private readonly logger: Logger;
  private readonly listeners: StateListener[] = [];
  private shortage = '';
  private freeBytesLow = -1;

  constructor(logger: Logger) {
    this.logger = logger;
  }

  listen(listener: StateListener): void {
    this.listeners.push(listener);
  }

  /** Writes are refused for lack of something: space, or a free file descriptor. */
  get isShort(): boolean {
    return this.shortage !== '';
  }

  /** What a write lacked, in words (see `shortageOf`); '': it went through again. */
  setShortage(reason: string): void {
    if (this.shortage === reason) return;
    this.shortage = reason;
    this.update();
  }

  /** The disk is below its low-water mark with so many bytes free; -1 = it is not. */
  setLow(freeBytes: number): void {
    this.freeBytesLow = freeBytes;
    this.update();
  }

  /** After an error of a write or sync nobody knows what the disk holds (rule 7). */
  fail(error: Error): void {
    const reason = `the journal cannot be written: ${error.message}; nothing is acknowledged until this node restarts`;
    this.logger.error(reason);
    this.change('failed', reason);
  }

  private update(): void {
    if (this.state === 'failed') return;
    if (this.isShort) this.change('full', this.shortage);
    else if (this.freeBytesLow >= 0) {
      const free = Math.floor(this.freeBytesLow / 1_000_000);
      this.change('full', `only ${free} MB are free on the disk: publishing pauses until there is more`);
    } else this.change('ok', '');
  }

  private change(state: JournalState, reason: string): void {
    const before = this.state;
    this.state = state;
    this.reason = reason;
    if (state === before) return;
    if (state === 'full') this.logger.warn(reason);
    if (state === 'ok') this.logger.info('the journal can be written again');
    for (const listener of this.listeners) listener(state, reason);
  }
}

/** Why a connection is not read; bits, since several may hold at once. */
export const Pause = {
  /** The broker takes no messages, and this connection publishes. */
  gate: 1,
  /** The client does not read. */
  output: 2,
  /** Frames wait for a method that waits for the broker. */
  backlog: 4,
  /** Too many publishes wait for their confirm. */
  confirms: 8,
  /** The same as `backlog`, for all channels together. */
  backlogs: 16,
  /** This turn has no room for more input. */
  turn: 32,
  /** A queue is too full, and this connection publishes to it. */
  stop: 128,
  /** Too much of a large message is on its way. */
  upload: 64,
} as const;
export type Pause = (typeof Pause)[keyof typeof Pause];

/** Whether a connection's input is processed: several may want it to stop, for different reasons, at once. */
export class InputGate {
  private reasons = 0;
  /** Channels that want it, for the reasons that several can have at once. */
  private backlogs = 0;
  private confirms = 0;
  private uploads = 0;

  /** True: input is processed. */
  get open(): boolean {
    return this.reasons === 0;
  }

  /** True: frames that have queued on channels stay there too. */
  get holdsBacklogs(): boolean {
    return (this.reasons & ~(Pause.backlog | Pause.backlogs)) !== 0;
  }

  has(why: Pause): boolean {
    return (this.reasons & why) !== 0;
  }

  /** Each call for `backlog`, `confirms` and `upload` needs an `unpause` of its own. */
  pause(why: Pause): void {
    this.reasons |= why;
    if (why === Pause.backlog) this.backlogs++;
    else if (why === Pause.confirms) this.confirms++;
    else if (why === Pause.upload) this.uploads++;
  }

  unpause(why: Pause): void {
    if (why === Pause.backlog && --this.backlogs > 0) return;
    if (why === Pause.confirms && --this.confirms > 0) return;
    if (why === Pause.upload && --this.uploads > 0) return;
    this.reasons &= ~why;
  }
}

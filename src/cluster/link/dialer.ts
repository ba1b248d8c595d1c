import type { Clock, Timer } from '../../base/clock.js';
import type { Random } from '../../base/random.js';
import { type ByteStream, DialError, type Transport } from '../byte-stream.js';

export interface DialerOptions {
  transport: Transport;
  clock: Clock;
  random: Random;
  dialTimeoutMs: number;
  /** Waits between attempts double from the first to the second; each is up to a half longer or shorter, by chance. */
  redialMsMin: number;
  redialMsMax: number;
}

/** What becomes of an attempt. */
export interface DialerOwner {
  /** Numbers the attempts of a node, so that what was learned after one began can be told. */
  nextDial(): number;
  /** The dialer has stopped; `again` if the stream turns out to be of no use. */
  connected(stream: ByteStream): void;
  /** Nothing listens at the address. The dialer goes on. */
  refused(dial: number): void;
  /** No answer, or none of use. The dialer goes on. */
  unreachable(reason: string): void;
}

/** Calls one address again and again until it answers, or is no longer asked to. */
export class Dialer {
  private readonly options: DialerOptions;
  private readonly owner: DialerOwner;
  private address = '';
  private calling = false;
  private delayMs: number;
  private timer: Timer | undefined;
  /** What attempts of an older round come to is ignored. */
  private round = 0;

  constructor(options: DialerOptions, owner: DialerOwner) {
    this.options = options;
    this.owner = owner;
    this.delayMs = options.redialMsMin;
  }

  /** Calls at once, unless it is calling that address already. '' = nowhere. */
  start(address: string): void {
    if (this.calling && this.address === address) return;
    this.stop();
    this.address = address;
    if (address === '') return;
    this.calling = true;
    this.delayMs = this.options.redialMsMin;
    this.attempt();
  }

  /** Calls the same address again, after a wait that grows with each time. */
  again(): void {
    if (this.calling || this.address === '') return;
    this.calling = true;
    this.wait();
  }

  /** There is a sign of life: if it waits, it calls at once, and its next waits are short again. */
  hurry(): void {
    if (this.timer === undefined) return;
    this.timer.cancel();
    this.timer = undefined;
    this.delayMs = this.options.redialMsMin;
    this.attempt();
  }

  /** Whatever was begun has no effect any more. */
  stop(): void {
    this.calling = false;
    this.round++;
    this.timer?.cancel();
    this.timer = undefined;
  }

  private attempt(): void {
    const round = this.round;
    const dial = this.owner.nextDial();
    this.options.transport.dial(this.address, this.options.dialTimeoutMs).then(
      (stream) => {
        if (round !== this.round) return stream.close();
        this.stop();
        this.owner.connected(stream);
      },
      (error: unknown) => {
        if (round !== this.round) return;
        this.wait();
        if (error instanceof DialError && error.failure === 'refused') this.owner.refused(dial);
        else this.owner.unreachable(error instanceof Error ? error.message : String(error));
      },
    );
  }

  private wait(): void {
    const { clock, random, redialMsMax } = this.options;
    const delay = this.delayMs * (0.5 + random.float());
    this.delayMs = Math.min(this.delayMs * 2, redialMsMax);
    this.timer = clock.after(delay, () => {
      this.timer = undefined;
      this.attempt();
    });
  }
}

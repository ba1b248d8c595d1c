/**
 * Slows down whoever guesses passwords. After a failure the next attempt from the same address is looked at later, each time twice as
 * late as the time before; the client hears as late that it was refused. Who has just been let in with the same name and password does not wait
 * (see Passwords), so that others at the address of a client with a wrong password go on.
 */
import { type Clock, sleep } from '../base/clock.js';

/** After the first failure, and after many. */
const delayMsMin = 100;
const delayMsMax = 5000;
/** What waits longer than this for its turn is refused unseen: the client would have given up. */
const lineMsMax = 4000;
/** One failure less counts for each such time without any. */
const forgiveMs = 30_000;
/** Addresses that are remembered; the one goes whose last failure is longest ago. */
const addressesMax = 10_000;

/** Answers that are held back, of one address and of all: they hold sockets. More are given at once. */
const heldMax = 16;
const allHeldMax = 100;

interface Suspect {
  failures: number;
  /** Answers that are held back. */
  held: number;
  lastAt: number;
  /** When the next attempt may be looked at. */
  nextAt: number;
}

export class LoginThrottle {
  private readonly clock: Clock;
  private readonly suspects = new Map<string, Suspect>();
  private held = 0;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Resolves when an attempt from the address may be looked at; to false if it must not be. */
  async turn(address: string): Promise<boolean> {
    const suspect = this.find(address);
    if (suspect === undefined) return true;
    const now = this.clock.now();
    const startAt = Math.max(now, suspect.nextAt);
    if (startAt - now > lineMsMax) return false;
    suspect.nextAt = startAt + delayMs(suspect.failures);
    if (startAt > now) await sleep(this.clock, startAt - now);
    return true;
  }

  /** An attempt has failed. Resolves when the client may be told: soon, if many are held back already. */
  async failed(address: string): Promise<void> {
    const key = keyOf(address);
    const now = this.clock.now();
    const suspect = this.find(address) ?? { failures: 0, held: 0, lastAt: now, nextAt: now };
    suspect.failures++;
    suspect.lastAt = now;
    const delay = delayMs(suspect.failures);
    suspect.nextAt = Math.max(suspect.nextAt, now + delay);
    // The last one last.
    this.suspects.delete(key);
    this.suspects.set(key, suspect);
    if (this.suspects.size > addressesMax)
      for (const oldest of this.suspects.keys()) {
        this.suspects.delete(oldest);
        break;
      }
    if (suspect.held >= heldMax || this.held >= allHeldMax) return;
    suspect.held++;
    this.held++;
    await sleep(this.clock, delay);
    suspect.held--;
    this.held--;
  }

  private find(address: string): Suspect | undefined {
    const key = keyOf(address);
    const suspect = this.suspects.get(key);
    if (suspect === undefined) return undefined;
    const forgiven = Math.floor((this.clock.now() - suspect.lastAt) / forgiveMs);
    if (forgiven === 0) return suspect;
    suspect.failures -= forgiven;
    suspect.lastAt += forgiven * forgiveMs;
    if (suspect.failures > 0) return suspect;
    this.suspects.delete(key);
    return undefined;
  }
}

function delayMs(failures: number): number {
  return Math.min(delayMsMax, delayMsMin * 2 ** Math.min(failures - 1, 16));
}

/** Whoever has one address of IPv6 has its whole network of 64 bits. */
function keyOf(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address;
  const [left = '', right] = address.split('::');
  const head = left === '' ? [] : left.split(':');
  const tail = right === undefined || right === '' ? [] : right.split(':');
  const zeros =
    right === undefined ? [] : Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => '0');
  return `${[...head, ...zeros, ...tail].slice(0, 4).join(':')}::/64`;
}

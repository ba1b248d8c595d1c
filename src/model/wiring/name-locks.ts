import type { Footprint } from './footprint.js';

/** A holder's wish for all the names of a footprint at once. */
export class Claim<T> {
  readonly holder: T;
  readonly footprint: Footprint;
  /** Names that it still waits for. */
  missing = 0;

  constructor(holder: T, footprint: Footprint) {
    this.holder = holder;
    this.footprint = footprint;
  }
}

interface Waiting<T> {
  claim: Claim<T>;
  write: boolean;
}

/** One name: who has it, and who waits for it, in order. */
class Name<T> {
  holders = 0;
  written = false;
  private waiting: Waiting<T>[] = [];
  private first = 0;

  /** Takes it at once if nobody stands against that or waits for it. */
  take(write: boolean): boolean {
    if (this.first < this.waiting.length) return false;
    if (this.holders > 0 && (write || this.written)) return false;
    this.holders++;
    this.written = write;
    return true;
  }

  wait(claim: Claim<T>, write: boolean): void {
    this.waiting.push({ claim, write });
  }

  /** One holder less. `granted` is called for everyone whose turn it is now. */
  release(granted: (claim: Claim<T>) => void): void {
    this.holders--;
    if (this.holders > 0) return;
    this.written = false;
    while (this.first < this.waiting.length) {
      const next = this.waiting[this.first]!;
      if (this.holders > 0 && (next.write || this.written)) return;
      this.first++;
      this.holders++;
      this.written = next.write;
      granted(next.claim);
    }
    this.waiting = [];
    this.first = 0;
  }
}

/**
 * Who may act on which names. A claim asks for all its names at once and waits behind earlier claims on each of them; so
 * claims never wait for each other in a circle, and on one name everybody's turn comes in the order of asking.
 */
export class NameLocks<T> {
  private readonly names = new Map<string, Name<T>>();
  private readonly ready: (claim: Claim<T>) => void;

  /** @param ready is called when a claim that had to wait has all its names, during `release`. */
  constructor(ready: (claim: Claim<T>) => void) {
    this.ready = ready;
  }

  /** True if the claim has all its names at once; else `ready` is called for it. */
  request(claim: Claim<T>): boolean {
    for (const [key, write] of claim.footprint.keys) {
      let name = this.names.get(key);
      if (name === undefined) {
        name = new Name();
        this.names.set(key, name);
      }
      if (name.take(write)) continue;
      name.wait(claim, write);
      claim.missing++;
    }
    return claim.missing === 0;
  }

  /** Gives up all the names of a claim that has them all. */
  release(claim: Claim<T>): void {
    for (const key of claim.footprint.keys.keys()) {
      const name = this.names.get(key);
      name?.release(this.granted);
      if (name?.holders === 0) this.names.delete(key);
    }
  }

  private readonly granted = (claim: Claim<T>): void => {
    claim.missing--;
    if (claim.missing === 0) this.ready(claim);
  };
}

/**
 * Seeded randomness. Every concern draws from its own fork, so that one draw more in one place does not shift all the
 * others: a seed keeps its shape while the code around it changes.
 */
import type { Random } from '../src/base/random.js';

const hexDigits = '0123456789abcdef';

/** FNV-1a over the label, mixed with the parent's seed. */
function mixLabel(seed: number, label: string): number {
  let hash = (seed ^ 0x811c_9dc5) >>> 0;
  for (let i = 0; i < label.length; i++) hash = Math.imul(hash ^ label.charCodeAt(i), 0x0100_0193) >>> 0;
  return hash;
}

/** sfc32: small, fast, passes the usual batteries; quality matters less than that it is the same everywhere. */
export class SimRandom implements Random {
  private readonly seed: number;
  private a: number;
  private b: number;
  private c: number;
  private counter = 1;

  constructor(seed: number) {
    this.seed = seed >>> 0;
    this.a = 0x9e37_79b9;
    this.b = 0x243f_6a88;
    this.c = this.seed;
    for (let i = 0; i < 12; i++) this.u32();
  }

  /** An independent generator; the same label always gives the same one, whatever was drawn before. */
  fork(label: string): SimRandom {
    return new SimRandom(mixLabel(this.seed, label));
  }

  u32(): number {
    const sum = (this.a + this.b + this.counter) | 0;
    this.counter = (this.counter + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = (((this.c << 21) | (this.c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  float(): number {
    return this.u32() / 0x1_0000_0000;
  }

  int(below: number): number {
    return Math.floor(this.float() * below);
  }

  hex(length: number): string {
    let text = '';
    for (let i = 0; i < length; i++) text += hexDigits[this.u32() >>> 28]!;
    return text;
  }

  /** True with probability `p`. */
  chance(p: number): boolean {
    return this.float() < p;
  }

  /** A float in [min, max). */
  between(min: number, max: number): number {
    return min + this.float() * (max - min);
  }

  /** One of the items, evenly. */
  pick<T>(items: readonly T[]): T {
    const item = items[this.int(items.length)];
    if (item === undefined) throw new Error('pick from nothing');
    return item;
  }

  /** The items in random order; a new array. */
  shuffle<T>(items: readonly T[]): T[] {
    const shuffled = [...items];
    for (let i = shuffled.length - 1; i > 0; i--) {
      const j = this.int(i + 1);
      [shuffled[i], shuffled[j]] = [shuffled[j]!, shuffled[i]!];
    }
    return shuffled;
  }
}

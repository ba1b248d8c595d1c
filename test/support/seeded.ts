/** Numbers that follow from a seed (xorshift32): a run with the same seed makes the same choices. */
export class Seeded {
  readonly seed: number;
  private state: number;

  constructor(seed: number) {
    this.seed = seed;
    this.state = seed | 0 || 1;
    for (let i = 0; i < 8; i++) this.next();
  }

  /** From UNDERSTUDY_SEED, or by chance. */
  static fromEnvironment(): Seeded {
    const given = process.env['UNDERSTUDY_SEED'];
    return new Seeded(given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given));
  }

  private next(): number {
    let x = this.state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.state = x;
    return x >>> 0;
  }

  /** A whole number from 0 to `below` - 1. */
  int(below: number): number {
    return this.next() % below;
  }

  /** True in `percent` of a hundred cases. */
  chance(percent: number): boolean {
    return this.int(100) < percent;
  }

  /** `count` different ones of the list. */
  some<T>(list: readonly T[], count: number): T[] {
    const rest = [...list];
    return Array.from({ length: count }, () => rest.splice(this.int(rest.length), 1)[0]!);
  }
}

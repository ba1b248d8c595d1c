/**
 * What a node's clients said of messages that they held, in order, until the primary has answered it: a ring of
 * (kind, incarnation, position) between `answered` and `end`, of which everything before `sent` was told to the present
 * attachment. It cannot outgrow what clients held, which their credit bounds.
 *
 *   answered ── told, no answer yet ── sent ── not told yet ── end
 */
export const Settlement = { ack: 0, requeue: 1, release: 2, reject: 3 } as const;
export type Settlement = (typeof Settlement)[keyof typeof Settlement];

/** Mark of an entry that `restart` leaves out. */
const dropped = 255;

export class SettlementRing {
  /** Absolute numbers of entries. */
  answered = 0;
  sent = 0;
  end = 0;
  /** Where the present attachment began to count. */
  private base = 0;
  private kinds: Uint8Array;
  private incarnations: Float64Array;
  private positions: Float64Array;
  private mask: number;

  constructor(capacity = 1024) {
    this.kinds = new Uint8Array(capacity);
    this.incarnations = new Float64Array(capacity);
    this.positions = new Float64Array(capacity);
    this.mask = capacity - 1;
  }

  push(kind: Settlement, incarnation: number, position: number): void {
    if (this.end - this.answered > this.mask) this.grow();
    const at = this.end++ & this.mask;
    this.kinds[at] = kind;
    this.incarnations[at] = incarnation;
    this.positions[at] = position;
  }

  kind(number: number): Settlement {
    return this.kinds[number & this.mask] as Settlement;
  }
  incarnation(number: number): number {
    return this.incarnations[number & this.mask]!;
  }
  position(number: number): number {
    return this.positions[number & this.mask]!;
  }

  /** The first `count` entries told to the present attachment are committed. */
  settled(count: number): void {
    this.answered = Math.max(this.answered, Math.min(this.base + count, this.sent));
  }

  /**
   * A new attachment: everything unanswered is to be told again, in order, but for what goes back to its queue: `returned` is told
   * of that, newest first, for it is named with what is held. Entries from number `since` on were made while that was going on: they
   * all stay, and `late` is told of them.
   */
  restart(
    since: number,
    late: (incarnation: number, position: number) => void,
    returned: (kind: Settlement, incarnation: number, position: number) => void,
  ): void {
    for (let number = this.end - 1; number >= this.answered; number--) {
      const kind = this.kind(number);
      if (number >= since) {
        late(this.incarnation(number), this.position(number));
        continue;
      }
      if (kind !== Settlement.requeue && kind !== Settlement.release) continue;
      returned(kind, this.incarnation(number), this.position(number));
      this.kinds[number & this.mask] = dropped;
    }
    let to = this.answered;
    for (let from = this.answered; from < this.end; from++) {
      const kind = this.kinds[from & this.mask]!;
      if (kind === dropped) continue;
      this.kinds[to & this.mask] = kind;
      this.incarnations[to & this.mask] = this.incarnation(from);
      this.positions[to & this.mask] = this.position(from);
      to++;
    }
    this.end = to;
    this.sent = this.answered;
    this.base = this.answered;
  }

  /** Nobody will ever answer. */
  clear(): void {
    this.answered = this.end;
    this.sent = this.end;
    this.base = this.end;
  }

  private grow(): void {
    const { kinds, incarnations, positions, mask } = this;
    const capacity = (mask + 1) * 2;
    this.kinds = new Uint8Array(capacity);
    this.incarnations = new Float64Array(capacity);
    this.positions = new Float64Array(capacity);
    this.mask = capacity - 1;
    for (let number = this.answered; number < this.end; number++) {
      const from = number & mask;
      const to = number & this.mask;
      this.kinds[to] = kinds[from]!;
      this.incarnations[to] = incarnations[from]!;
      this.positions[to] = positions[from]!;
    }
  }
}

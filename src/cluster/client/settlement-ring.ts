/**
 * What a node's clients said of messages that they held, in order, until the primary has answered it: a ring of
 * (kind, incarnation, position) between `answered` and `end`, of which everything before `sent` was told to the present
 * attachment. It cannot outgrow what clients held, which their credit bounds.
 *
 * Of some an owner is to be told that they are answered. Room for owners is made when the first comes.
 *
 *   answered ── told, no answer yet ── sent ── not told yet ── end
 */
import type { Modification, SettlementOwner } from '../../model/broker.js';

export type { Modification, SettlementOwner };

export const Settlement = { ack: 0, requeue: 1, release: 2, reject: 3, putBack: 4, modify: 5 } as const;
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
  private owners: (SettlementOwner | null)[] | null = null;
  private tags: Float64Array = new Float64Array(0);
  private readonly modifications = new Map<number, Modification>();

  constructor(capacity = 1024) {
    this.kinds = new Uint8Array(capacity);
    this.incarnations = new Float64Array(capacity);
    this.positions = new Float64Array(capacity);
    this.mask = capacity - 1;
  }

  /** A message goes back changed. */
  pushModify(incarnation: number, position: number, modification: Modification): void {
    this.modifications.set(this.end, modification);
    this.push(Settlement.modify, incarnation, position);
  }

  /** Of an entry that is a `modify`. */
  modification(number: number): Modification {
    return this.modifications.get(number)!;
  }

  /** @param owner is told of `tag` when it is answered */
  push(kind: Settlement, incarnation: number, position: number, owner?: SettlementOwner, tag: number = 0): void {
    if (this.end - this.answered > this.mask) this.grow();
    const at = this.end++ & this.mask;
    this.kinds[at] = kind;
    this.incarnations[at] = incarnation;
    this.positions[at] = position;
    if (owner === undefined) return;
    if (this.owners === null) this.makeOwners();
    this.owners![at] = owner;
    this.tags[at] = tag;
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
    this.answerTo(Math.max(this.answered, Math.min(this.base + count, this.sent)));
  }

  /**
   * A new attachment: everything unanswered is to be told again, in order, but for what goes back to its queue: `returned` is told
   * of that, newest first, for it is named with what is held, and says whether it is. Entries from number `since` on were made while that was going on: they
   * all stay, and `late` is told of them.
   */
  restart(
    since: number,
    late: (incarnation: number, position: number) => void,
    returned: (kind: Settlement, incarnation: number, position: number) => boolean,
  ): void {
    for (let number = this.end - 1; number >= this.answered; number--) {
      const kind = this.kind(number);
      if (number >= since) {
        late(this.incarnation(number), this.position(number));
        continue;
      }
      if (kind === Settlement.ack || kind === Settlement.reject) continue;
      if (returned(kind, this.incarnation(number), this.position(number))) this.kinds[number & this.mask] = dropped;
    }
    let to = this.answered;
    for (let from = this.answered; from < this.end; from++) {
      const kind = this.kinds[from & this.mask]!;
      const modification = this.modifications.size > 0 ? this.modifications.get(from) : undefined;
      if (modification !== undefined) this.modifications.delete(from);
      if (kind === dropped) continue;
      if (modification !== undefined) this.modifications.set(to, modification);
      this.kinds[to & this.mask] = kind;
      this.incarnations[to & this.mask] = this.incarnation(from);
      this.positions[to & this.mask] = this.position(from);
      if (this.owners !== null && to !== from) this.moveOwner(this.owners, from & this.mask, to & this.mask);
      to++;
    }
    this.end = to;
    this.sent = this.answered;
    this.base = this.answered;
  }

  /** Nobody will ever answer. */
  clear(): void {
    this.sent = this.end;
    this.base = this.end;
    this.answerTo(this.end);
  }

  private answerTo(number: number): void {
    const { answered, owners, mask } = this;
    this.answered = number;
    if (this.modifications.size > 0) for (let one = answered; one < number; one++) this.modifications.delete(one);
    if (owners === null) return;
    for (let one = answered; one < number; one++) {
      const owner = owners[one & mask]!;
      if (owner === null) continue;
      owners[one & mask] = null;
      owner.settlementSafe(this.tags[one & mask]!);
    }
  }

  private makeOwners(): void {
    this.owners = new Array<SettlementOwner | null>(this.mask + 1).fill(null);
    this.tags = new Float64Array(this.mask + 1);
  }

  private moveOwner(owners: (SettlementOwner | null)[], from: number, to: number): void {
    owners[to] = owners[from]!;
    this.tags[to] = this.tags[from]!;
    owners[from] = null;
  }

  private grow(): void {
    const { kinds, incarnations, positions, mask, owners, tags } = this;
    const capacity = (mask + 1) * 2;
    this.kinds = new Uint8Array(capacity);
    this.incarnations = new Float64Array(capacity);
    this.positions = new Float64Array(capacity);
    this.mask = capacity - 1;
    if (owners !== null) this.makeOwners();
    for (let number = this.answered; number < this.end; number++) {
      const from = number & mask;
      const to = number & this.mask;
      this.kinds[to] = kinds[from]!;
      this.incarnations[to] = incarnations[from]!;
      this.positions[to] = positions[from]!;
      if (owners === null) continue;
      this.owners![to] = owners[from]!;
      this.tags[to] = tags[from]!;
    }
  }
}

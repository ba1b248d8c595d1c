/** Boots remembered per group. Whoever has not published for the longest time is forgotten first. */
export const publishersMax = 1024;

/** The last committed publish of one boot. */
export class Publisher {
  readonly boot: number;
  sequence = 0;
  /** Grows each time the boot takes its turn among the publishers. */
  usedAt = 0;

  constructor(boot: number) {
    this.boot = boot;
  }
}

/**
 * Last committed sequence per publisher boot (rules 14, 19): one entry for each life of a node that ever published into the
 * group. A forgotten one does no harm unless the node still has to send again what it published before `publishersMax` others
 * did: it says itself, on attaching, what was confirmed to it.
 */
export class Publishers {
  private readonly byBoot = new Map<number, Publisher>();
  private latest: Publisher | undefined;
  private uses = 0;

  /** The entry of `boot`, made if there is none. */
  of(boot: number): Publisher {
    const latest = this.latest;
    if (latest !== undefined && latest.boot === boot) return latest;
    let publisher = this.byBoot.get(boot);
    if (publisher === undefined) {
      if (this.byBoot.size >= publishersMax) this.forgetOldest();
      publisher = new Publisher(boot);
      this.byBoot.set(boot, publisher);
    }
    publisher.usedAt = ++this.uses;
    this.latest = publisher;
    return publisher;
  }

  /** A publish was committed; `boot` 0 = it has no number. */
  committed(boot: number, sequence: number): void {
    if (boot === 0) return;
    const publisher = this.of(boot);
    if (sequence > publisher.sequence) publisher.sequence = sequence;
  }

  list(): [boot: number, sequence: number][] {
    const list: [number, number][] = [];
    for (const publisher of this.byBoot.values())
      if (publisher.sequence > 0) list.push([publisher.boot, publisher.sequence]);
    return list;
  }

  /** Takes over what another replica or a checkpoint knows. */
  merge(list: readonly (readonly [boot: number, sequence: number])[]): void {
    for (const [boot, sequence] of list) this.committed(boot, sequence);
  }

  /** Knows what `list` says and nothing else: a joiner forgets publishes that it had on disk and that never committed. */
  replace(list: readonly (readonly [boot: number, sequence: number])[]): void {
    this.byBoot.clear();
    this.latest = undefined;
    this.merge(list);
  }

  private forgetOldest(): void {
    let oldest: Publisher | undefined;
    for (const publisher of this.byBoot.values())
      if (oldest === undefined || publisher.usedAt < oldest.usedAt) oldest = publisher;
    if (oldest !== undefined) this.byBoot.delete(oldest.boot);
  }
}

/** Who holds bytes of messages that have not come whole, or wait to be read. */
export interface Holder {
  readonly heldBytes: number;
  /** All of them hold too much, and this one the most. */
  holdsMost(bytes: number): void;
}

/**
 * What of all WebSockets waits in this process. Each may hold a message, and many that are not even logged in could do so at once: above the limit the one
 * that holds the most is ended.
 */
export class HeldBytes {
  private readonly bytesMax: number;
  private readonly holders: Set<Holder> = new Set();
  private bytes = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  add(holder: Holder): void {
    this.holders.add(holder);
  }

  remove(holder: Holder): void {
    if (this.holders.delete(holder)) this.bytes -= holder.heldBytes;
  }

  /** A holder has come to hold so much more, or less. */
  changed(by: number): void {
    this.bytes += by;
    if (by <= 0 || this.bytes <= this.bytesMax) return;
    let most: Holder | undefined;
    for (const holder of this.holders) if (most === undefined || holder.heldBytes > most.heldBytes) most = holder;
    if (most === undefined) return;
    this.remove(most);
    most.holdsMost(this.bytesMax);
  }
}

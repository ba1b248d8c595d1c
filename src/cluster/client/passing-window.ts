/** Messages and bytes that passed on at a time, at most. */
const messagesMax = 1024;
const bytesMax = 16 * 1024 * 1024;

/**
 * How many more messages whoever passes them on asks for. How large they are is known only when they have come: so it begins with few, and reckons
 * with the largest that it has seen of late.
 */
export class PassingWindow {
  /** Asked for and not come yet. */
  private asked = 0;
  private messages = 0;
  private bytes = 0;
  private size = 1;
  private largest = 1;

  /** The first credit of a subscription. */
  begin(): number {
    this.asked = 0;
    return this.take();
  }

  delivered(bytes: number): void {
    if (this.asked > 0) this.asked--;
    this.messages++;
    this.bytes += bytes;
    this.largest = Math.max(bytes, this.largest * 0.99);
    this.size = Math.min(messagesMax, this.size * 2);
  }

  done(bytes: number): void {
    this.messages--;
    this.bytes -= bytes;
  }

  /** More credit; 0: not now. It is asked for in large portions. */
  take(): number {
    const room = Math.min(this.size, (bytesMax - this.bytes) / this.largest + this.messages);
    const more = Math.floor(room) - this.messages - this.asked;
    const isDue = more > 0 && (this.asked === 0 || more * 4 >= room);
    if (!isDue) return this.messages + this.asked === 0 ? this.grant(1) : 0;
    return this.grant(more);
  }

  private grant(count: number): number {
    this.asked += count;
    return count;
  }
}

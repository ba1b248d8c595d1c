/**
 * What a full queue has refused is not in it.
 *
 * The publisher is told so by the primary that refused it. If its node lost the link to that primary since it had taken the message,
 * the next one cannot tell what became of it: such a message counts as refused, and may be there. In other queues, which had room for
 * it, a message that was refused is as safe as a confirmed one; with the dead only if the primary was not lost.
 */
import type { Copy, Delivery, Message, Send } from '../history.js';
import { Checker } from './checker.js';

export class RefusedNotThere extends Checker {
  readonly name = 'refused-not-there';
  /** By message: what tied its node to the primary when it was taken; and those that were surely refused. */
  private readonly ties = new Map<Message, unknown>();
  private readonly refusals = new Map<Copy, number>();
  private readonly nacked: Message[] = [];

  override taken(message: Message, { node }: Send): void {
    const copy = refusable(message);
    if (copy !== undefined) this.ties.set(message, message.sends.length > 1 ? undefined : this.tie(copy, node));
  }

  override refused(message: Message, node: string): void {
    const copy = refusable(message);
    const tie = this.ties.get(message);
    if (copy === undefined) return;
    this.nacked.push(message);
    if (tie === undefined || tie !== this.tie(copy, node)) return;
    this.refusals.set(copy, this.world.loop.now);
    if (copy.deliveries.length > 0) this.fail(`${node} refuses ${message} after ${copy.deliveries[0]}`);
  }

  override atEnd(): void {
    for (const message of this.nacked) for (const copy of message.copies) this.mustBeThere(copy);
  }

  private mustBeThere(copy: Copy): void {
    const { queue, message } = copy;
    if (queue.kind.refusesOver !== undefined || copy.takenAt >= 0) return;
    // The primary that wrote it down with the dead may have been lost before that was committed.
    if (queue.isGrave && !this.refusals.has(refusable(message)!)) return;
    this.fail(`${copy} is gone; only another queue has refused it`);
  }

  override delivered(delivery: Delivery): void {
    const at = this.refusals.get(delivery.copy);
    if (at !== undefined && delivery.copy.message.sends.length === 1)
      this.fail(`refused at ${at.toFixed(2)} ms, and there: ${delivery}`);
  }

  private tie({ queue }: Copy, node: string): unknown {
    const probe = this.world.node(node).process?.probe;
    const group = probe?.groupOf('/', queue.name) ?? -1;
    return group < 0 ? undefined : probe?.attachment(group);
  }
}

function refusable({ copies }: Message): Copy | undefined {
  return copies.find(({ queue }) => queue.kind.refusesOver !== undefined);
}

import type { GroupClientPort, HeldMessage } from '../group-port.js';
import { Attachment, AttachmentState } from './attachment.js';
import type { GroupService } from './group-service.js';
import type { ServedQueue } from './served-queue.js';

/** The nodes that are attached, or were and may come back: one attachment each, and what stands for it in the indexes. */
export class Attachments {
  private readonly service: GroupService;
  private readonly byNode = new Map<string, Attachment>();
  /** Which numbers stand for an attachment; 0 stands for none. */
  private readonly slots: boolean[] = [true];
  /** Last sequence in the log, per boot, of attachments that are over. */
  private readonly appendedOf = new Map<number, number>();

  constructor(service: GroupService) {
    this.service = service;
  }

  get(node: string): Attachment | undefined {
    return this.byNode.get(node);
  }

  values(): Iterable<Attachment> {
    return this.byNode.values();
  }

  /**
   * Makes the node's new attachment, to which everything that `held` names belongs from now on. Returns it and the queues that
   * an older one had consumers of.
   */
  attach(
    node: string,
    boot: number,
    client: GroupClientPort,
    held: readonly HeldMessage[],
    confirmed: number,
  ): { attachment: Attachment; left: ServedQueue[] } {
    const { service } = this;
    const old = this.byNode.get(node);
    if (old !== undefined) this.appendedOf.set(old.boot, old.appended);
    const publisher = service.state.publishers.of(boot);
    const appended = Math.max(publisher.sequence, confirmed, this.appendedOf.get(boot) ?? 0);
    const attachment = new Attachment(service, node, boot, client, this.takeSlot(), publisher, confirmed, appended);
    this.byNode.set(node, attachment);
    const replaced = old?.slot ?? 0;
    if (service.rules.keepHeld)
      for (const { incarnation, position } of held)
        service.served(incarnation)?.hold(position, attachment.slot, replaced);
    return { attachment, left: old === undefined ? [] : this.retire(old) };
  }

  /** The node will not come back in this boot. Returns the queues that it had consumers of. */
  remove(attachment: Attachment): ServedQueue[] {
    this.byNode.delete(attachment.node);
    return this.retire(attachment);
  }

  closeAll(): void {
    for (const attachment of this.byNode.values()) attachment.state = AttachmentState.closed;
    this.byNode.clear();
  }

  /** Takes everything from an attachment: what it still holds goes back to its queues, flagged. */
  private retire(attachment: Attachment): ServedQueue[] {
    attachment.state = AttachmentState.closed;
    attachment.waiting.clear();
    this.appendedOf.set(attachment.boot, attachment.appended);
    const left = new Set<ServedQueue>();
    for (const consumer of attachment.consumers.values()) {
      consumer.queue.removeConsumer(consumer);
      left.add(consumer.queue);
    }
    for (const queue of this.service.servedQueues()) {
      queue.takeGets(attachment);
      queue.giveBackAllOf(attachment.slot);
    }
    this.slots[attachment.slot] = false;
    return [...left];
  }

  private takeSlot(): number {
    let slot = 1;
    while (this.slots[slot] === true) slot++;
    this.slots[slot] = true;
    return slot;
  }
}

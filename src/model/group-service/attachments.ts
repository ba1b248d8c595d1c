import { SlicedWalk } from '../../base/slices.js';
import type { GroupClientPort, HeldMessage } from '../group-port.js';
import { Attachment, AttachmentState } from './attachment.js';
import type { GroupService } from './group-service.js';
import { giveBackSlice } from './served-queue.js';

/** Queues, consumers or messages gone through in one turn, when a node attaches or is gone: less than a millisecond's work. */
export const walkSlice = 4096;

/**
 * The nodes that are attached, or were and may come back: one attachment each, and what stands for it in the indexes.
 *
 * A node may hold many messages and have many consumers, so they are gone through in slices. What an attachment that is over held
 * stays held until the walk comes by: nobody can settle it, and nobody else gets it.
 */
export class Attachments {
  private readonly service: GroupService;
  private readonly byNode = new Map<string, Attachment>();
  /** Which numbers stand for an attachment; 0 stands for none. */
  private readonly slots: boolean[] = [true];
  /** Last sequence in the log, per boot, of attachments that are over. */
  private readonly appendedOf = new Map<number, number>();
  private readonly walks = new Set<SlicedWalk>();

  constructor(service: GroupService) {
    this.service = service;
  }

  get(node: string): Attachment | undefined {
    return this.byNode.get(node);
  }

  /** A node is attached in that boot, or was and may come back. */
  has(boot: number): boolean {
    for (const attachment of this.byNode.values()) if (attachment.boot === boot) return true;
    return false;
  }

  /** None of them is at something that takes several turns. */
  get isQuiet(): boolean {
    for (const attachment of this.byNode.values()) if (attachment.isBusy) return false;
    return this.walks.size === 0;
  }

  values(): Iterable<Attachment> {
    return this.byNode.values();
  }

  /**
   * Makes the node's new attachment, to which everything that `held` names belongs from now on; its calls wait until that is
   * noted. Then `named` is called, and an older attachment gives back what it still holds. `held` is not to be changed any more.
   */
  attach(
    node: string,
    boot: number,
    client: GroupClientPort,
    held: readonly HeldMessage[],
    confirmed: number,
    named: () => void,
  ): Attachment {
    const { service } = this;
    const old = this.byNode.get(node);
    if (old !== undefined) this.close(old);
    if (old !== undefined && old.boot !== boot) this.bootGone(old.boot);
    const publisher = service.state.publishers.of(boot);
    const appended = Math.max(confirmed, this.taken(boot));
    const attachment = new Attachment(service, node, boot, client, this.takeSlot(), publisher, confirmed, appended);
    this.byNode.set(node, attachment);
    const replaced = old?.slot ?? 0;
    attachment.naming = this.walk(attachment.name(service.rules.keepHeld ? held : [], replaced), () => {
      named();
      if (old !== undefined) this.retire(old);
    });
    return attachment;
  }

  /** Publishes of that boot up to here are in the log. */
  taken(boot: number): number {
    let taken = Math.max(this.service.state.publishers.of(boot).sequence, this.appendedOf.get(boot) ?? 0);
    for (const attachment of this.byNode.values())
      if (attachment.boot === boot) taken = Math.max(taken, attachment.appended);
    return taken;
  }

  /** What nodes were told of the in-sync set is told again. */
  answerAgain(): void {
    for (const attachment of this.byNode.values()) attachment.answerAgain();
  }

  /** The node will not come back in this boot. */
  remove(attachment: Attachment): void {
    this.byNode.delete(attachment.node);
    this.close(attachment);
    this.retire(attachment);
    this.bootGone(attachment.boot);
  }

  private bootGone(boot: number): void {
    this.service.large.gone(boot);
    this.service.termini.nodeGone(boot);
  }

  /** Goes through many things, in slices as long as the service is there. */
  walk(steps: Iterator<number, void>, done?: () => void): SlicedWalk {
    const walk = new SlicedWalk(steps, walkSlice, this.service.state.slices, (over) => {
      this.walks.delete(over);
      done?.();
    });
    if (!walk.isOver) this.walks.add(walk);
    return walk;
  }

  closeAll(): void {
    for (const walk of this.walks) walk.stop();
    this.walks.clear();
    for (const attachment of this.byNode.values()) attachment.state = AttachmentState.closed;
    this.byNode.clear();
  }

  /** Its calls do nothing from now on. */
  private close(attachment: Attachment): void {
    // What it named is found under its slot only once that is noted.
    attachment.naming?.finish();
    attachment.state = AttachmentState.closed;
    attachment.waiting.clear();
    attachment.bodies.release();
    this.appendedOf.set(attachment.boot, attachment.appended);
  }

  /** Takes everything from an attachment: what it still holds goes back to its queues, flagged. */
  private retire(attachment: Attachment): void {
    this.walk(this.retirement(attachment), () => this.freeSlot(attachment.slot));
  }

  private *retirement({ consumers, slot }: Attachment): Generator<number, void> {
    for (const consumer of consumers.values()) {
      consumer.queue.removeConsumer(consumer);
      this.service.uses.consumerLeft(consumer.queue);
      yield 1;
    }
    for (const queue of this.service.servedQueues()) {
      let from = queue.giveBackOf(slot, 0);
      yield 1;
      for (; from !== Number.POSITIVE_INFINITY; from = queue.giveBackOf(slot, from)) yield giveBackSlice;
    }
  }

  freeSlot(slot: number): void {
    this.slots[slot] = false;
  }

  /** A number that stands for nobody else in the indexes. */
  takeSlot(): number {
    let slot = 1;
    while (this.slots[slot] === true) slot++;
    this.slots[slot] = true;
    return slot;
  }
}

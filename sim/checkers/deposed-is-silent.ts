/**
 * Once a group's primary has delivered in its epoch, nothing of an older epoch reaches a client.
 *
 * Looked at where a node hands a message or a confirm to its client: the epoch is that of the primary the node is attached to
 * then. No allowance for packets under way is needed: a new primary delivers only after every live node has attached to it, so
 * none of them listens to the old one any more, and a node without a lease gives its clients nothing.
 */
import type { Delivery, Message } from '../history.js';
import { Checker } from './checker.js';

interface Newest {
  epoch: number;
  delivery: Delivery;
}

export class DeposedIsSilent extends Checker {
  readonly name = 'deposed-is-silent';
  private readonly newest = new Map<number, Newest>();

  override delivered(delivery: Delivery): void {
    const { group, epoch } = delivery.facts;
    if (group < 0) return;
    if (epoch === 0) {
      this.fail(`from no primary at all: ${delivery}`);
      return;
    }
    const newest = this.newest.get(group);
    if (newest === undefined || epoch > newest.epoch) this.newest.set(group, { epoch, delivery });
    else if (epoch < newest.epoch) this.fail(`${delivery}, after ${newest.delivery}`);
  }

  override confirmed(message: Message, node: string): void {
    const queue = message.copies.length === 1 ? message.copies[0]!.queue : undefined;
    const probe = this.world.node(node).process?.probe;
    if (queue === undefined || probe === undefined) return;
    const group = probe.groupOf('/', queue.name);
    const epoch = group < 0 ? 0 : probe.attachedEpoch(group);
    const newest = this.newest.get(group);
    if (epoch > 0 && newest !== undefined && epoch < newest.epoch)
      this.fail(`${message} is confirmed by ${node} in epoch ${epoch}, after ${newest.delivery}`);
  }
}

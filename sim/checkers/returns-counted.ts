/**
 * How often a message came back is counted, and it does not come more often than it may.
 *
 * Within one epoch every message that a client gave back counts, and what is told of it never goes down. The count is written into the
 * log, and nobody waits for it: a new primary may not know the last of them. But it knows what was committed; and that is certain once a
 * message is confirmed that its publisher sent to the same queue later: it lies behind it in the same log.
 */
import type { Delivery, Message } from '../history.js';
import { Checker } from './checker.js';

interface Counted {
  last: Delivery;
  /** Times that clients gave it back in the epoch of `last`, as counted by what was delivered there. */
  inEpoch: number;
  /** Every later primary knows so many. */
  certain: number;
}

export class ReturnsCounted extends Checker {
  readonly name = 'returns-counted';
  private readonly byQueue = new Map<string, Map<string, Counted>>();

  override confirmed(message: Message, node: string): void {
    const queue = message.copies.length === 1 ? message.copies[0]!.queue : undefined;
    const known = queue === undefined ? undefined : this.byQueue.get(queue.name);
    const probe = this.world.node(node).process?.probe;
    if (known === undefined || probe === undefined || message.sends.length > 1) return;
    const epoch = probe.attachedEpoch(probe.groupOf('/', queue!.name));
    const sentAt = message.sends[0]!.at;
    for (const counted of known.values()) {
      const { at, returns, epoch: deliveredIn } = counted.last.facts;
      if (deliveredIn === epoch && at < sentAt) counted.certain = Math.max(counted.certain, returns);
    }
  }

  override delivered(delivery: Delivery): void {
    const { copy, returns, epoch } = delivery.facts;
    const { returnsMax } = copy.queue.kind;
    // Brokers that are there to try the simulator have no primaries, and count nothing.
    if (returnsMax === undefined || epoch === 0) return;
    if (returns > returnsMax) this.fail(`more than ${returnsMax}: ${delivery}`);
    const counted = this.counted(delivery);
    const { last } = counted;
    if (last === delivery) return;
    if (epoch === last.facts.epoch) {
      if (last.state === 'requeued') counted.inEpoch++;
      if (returns < last.facts.returns) this.fail(`the count goes down: ${delivery}, before ${last}`);
    } else counted.inEpoch = 0;
    if (returns < counted.inEpoch) this.fail(`came back ${counted.inEpoch} times in this epoch alone: ${delivery}`);
    if (returns < counted.certain)
      this.fail(`came back ${counted.certain} times for certain: ${delivery}; before: ${last}`);
    this.byQueue.get(copy.queue.name)!.set(keyOf(delivery), { ...counted, last: delivery });
  }

  private counted(delivery: Delivery): Counted {
    const { name } = delivery.copy.queue;
    const known = this.byQueue.get(name) ?? new Map<string, Counted>();
    this.byQueue.set(name, known);
    const counted = known.get(keyOf(delivery)) ?? { last: delivery, inEpoch: 0, certain: 0 };
    known.set(keyOf(delivery), counted);
    return counted;
  }
}

/** A message, for ever. */
function keyOf({ facts: { incarnation, position } }: Delivery): string {
  return `${incarnation} ${position}`;
}

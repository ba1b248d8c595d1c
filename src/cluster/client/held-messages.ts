import type { DeliverySink } from '../../model/broker.js';
import { type HeldMessage, Naming } from '../../model/group-port.js';
import { forEachSettlement } from '../../model/unit.js';
import type { PublishOutbox } from './publish-outbox.js';
import { Settlement, type SettlementRing } from './settlement-ring.js';
import { ClusterSubscription, type HolderClient, QueueHolder } from './subscription.js';

/** What a node's clients hold of one group, each message once: named when the node attaches to a primary (rule 13). */
export class HeldMessages {
  private readonly client: HolderClient;
  /** Positions by incarnation. */
  private readonly known = new Map<number, Set<number>>();
  readonly held: HeldMessage[] = [];

  constructor(client: HolderClient) {
    this.client = client;
  }

  /** Adds what the sink's client holds of this group and has said nothing of. Returns how many messages were looked at. */
  addSink(sink: DeliverySink): number {
    let looked = 0;
    sink.forEachHeld((holder, position) => {
      looked++;
      if (!(holder instanceof QueueHolder) || holder.client !== this.client) return;
      if (holder instanceof ClusterSubscription && holder.closed) return;
      if (this.addNew(holder.incarnation, position))
        this.held.push({ incarnation: holder.incarnation, position, naming: Naming.held });
    });
    return looked;
  }

  /** Notes the message; returns whether it was not known before. */
  addNew(incarnation: number, position: number): boolean {
    let positions = this.known.get(incarnation);
    if (positions === undefined) {
      positions = new Set();
      this.known.set(incarnation, positions);
    }
    const before = positions.size;
    return positions.add(position).size > before;
  }

  /** Adds what transactions settle that are not known to be safe: it must not be given to others before they are. */
  addUnits(outbox: PublishOutbox, confirmed: number): void {
    outbox.forEachUnit(confirmed, (bytes, view, start) =>
      forEachSettlement(bytes, view, start, (incarnation, position) => {
        if (this.addNew(incarnation, position)) this.held.push({ incarnation, position, naming: Naming.held });
      }),
    );
  }

  /**
   * Adds what a client gave back and nobody here has got again. False: it is to be said again when all is named, since there is more to
   * say of it than that.
   */
  addReturned(kind: Settlement, incarnation: number, position: number): boolean {
    if (!this.addNew(incarnation, position)) return true;
    if (kind === Settlement.modify) return false;
    this.held.push({ incarnation, position, naming: namingOf(kind) });
    return true;
  }

  /**
   * Adds what clients are done with, without an answer yet: it must not be given to others before that arrives. Call it after
   * `SettlementRing.restart`.
   */
  addSettlements(settlements: SettlementRing): void {
    for (let number = settlements.answered; number < settlements.end; number++)
      this.held.push({
        incarnation: settlements.incarnation(number),
        position: settlements.position(number),
        naming: Naming.held,
      });
  }
}

function namingOf(kind: Settlement): Naming {
  if (kind === Settlement.release) return Naming.released;
  return kind === Settlement.putBack ? Naming.putBack : Naming.returned;
}

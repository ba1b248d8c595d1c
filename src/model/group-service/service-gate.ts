import type { Lsn } from '../../log/lsn.js';
import type { HandOver } from './hand-over.js';
import type { ServedQueue } from './served-queue.js';

/** What it needs of its service. */
export interface ServiceGatePorts {
  /** Goes through many things, in slices. */
  walk(steps: Iterator<number, void>, done?: () => void): void;
  served(incarnation: Lsn): ServedQueue | undefined;
  servedQueues(): Iterable<ServedQueue>;
  dispatchSoon(queue: ServedQueue): void;
}

/** Something else that takes a while. */
interface Preparation {
  /** Yields how much work each step was. */
  begin(): Generator<number, void>;
}

/** Holds back what a new primary would give out, until it is known what nodes' clients hold of the last one's (rule 13). */
export class ServiceGate {
  isOpen: boolean;
  private isOpening = false;
  private readonly waiting: (() => void)[] = [];
  private readonly ports: ServiceGatePorts;
  private readonly handedOver: HandOver | undefined;
  private readonly first: Preparation;
  private readonly onOpen: () => void;

  /**
   * @param first done before anything that has waited
   * @param onOpen it is open, and what `whenOpen` was told is being done
   */
  constructor(
    ports: ServiceGatePorts,
    first: Preparation,
    isOpen: boolean,
    handedOver: HandOver | undefined,
    onOpen: () => void,
  ) {
    this.ports = ports;
    this.isOpen = isOpen;
    this.handedOver = handedOver;
    this.first = first;
    this.onOpen = onOpen;
  }

  /** All live nodes have attached, or the leases of those that have not are gone. */
  open(): void {
    if (this.isOpen || this.isOpening) return;
    this.isOpening = true;
    this.ports.walk(this.prepare(), () => this.opened());
  }

  /** To be done when it opens. */
  whenOpen(run: () => void): void {
    this.waiting.push(run);
  }

  private *prepare(): Generator<number, void> {
    yield* this.flagUnnamed();
    yield* this.first.begin();
  }

  /** What the last primary's clients held and nobody has named is given again, flagged. */
  private *flagUnnamed(): Generator<number, void> {
    for (const incarnation of this.handedOver?.queues.keys() ?? []) {
      yield 1;
      for (const work of this.ports.served(incarnation)?.flagUnnamed() ?? []) yield work;
    }
  }

  private opened(): void {
    this.isOpen = true;
    // All that it names are served by now.
    this.handedOver?.queues.clear();
    this.ports.walk(this.opening());
    this.onOpen();
  }

  private *opening(): Generator<number, void> {
    for (const run of this.waiting.splice(0)) {
      run();
      yield 1;
    }
    for (const queue of this.ports.servedQueues()) {
      if (queue.hasDemand) this.ports.dispatchSoon(queue);
      yield 1;
    }
  }
}

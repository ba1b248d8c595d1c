/** What all simulated clients do alike: connect somewhere, lose the connection, connect somewhere else. */
import { Connection, type ConnectionOwner, type Outcome } from '../client/connection.js';
import type { Consumer, Session } from '../client/session.js';
import type { Delivery, Message } from '../history.js';
import type { SimRandom } from '../random.js';
import type { SimWorld } from '../world.js';

/** An answer that did not stay out: what an operation came to after as many attempts as it took. */
export type Settled<T> = Exclude<Outcome<T>, { kind: 'lost' }> & {
  /** True if an earlier attempt was lost: it may have been carried out, or may still be. */
  uncertain: boolean;
};

export abstract class Actor implements ConnectionOwner {
  readonly name: string;
  protected readonly world: SimWorld;
  protected readonly random: SimRandom;
  protected connection: Connection | undefined;
  /** The run is coming to its end: finish what is begun, begin nothing new. */
  protected stopping = false;

  constructor(world: SimWorld, name: string) {
    this.world = world;
    this.name = name;
    this.random = world.random.fork(`actor ${name}`);
  }

  toString(): string {
    return this.name;
  }

  stop(): void {
    this.stopping = true;
  }

  confirmed(_message: Message): void {}
  refused(_message: Message): void {}
  unroutable(_message: Message): void {}
  delivered(_delivery: Delivery, _consumer: Consumer): void {}
  cancelled(_consumer: Consumer, _reason: string): void {}

  lost(): void {
    this.connection = undefined;
  }

  protected sleep(minMs: number, maxMs: number): Promise<void> {
    return this.world.loop.sleep(this.random.between(minMs, maxMs));
  }

  /** A connection, the present one or a new one to any node that answers. */
  protected async connected(): Promise<Connection> {
    for (;;) {
      if (this.connection?.isOpen === true) return this.connection;
      const node = this.random.pick(this.world.nodes);
      this.connection = await Connection.open(this.world, node, this);
      if (this.connection === undefined) await this.sleep(5, 100);
    }
  }

  protected disconnect(): void {
    this.connection?.close();
    this.connection = undefined;
  }

  /** Asks until there is an answer, on another connection each time one is lost or does not answer in time. */
  protected async insist<T>(what: string, work: (session: Session) => Promise<T>): Promise<Settled<T>> {
    let uncertain = false;
    for (;;) {
      const connection = await this.connected();
      const outcome = await this.patiently(what, connection, connection.request(work));
      if (outcome.kind !== 'lost') {
        this.world.trace.add(this.name, `${what}: ${outcome.kind === 'ok' ? 'ok' : outcome.error.message}`);
        return { ...outcome, uncertain };
      }
      uncertain = true;
      this.world.trace.add(this.name, `${what}: lost`);
    }
  }

  /** While faults go on a client does not wait for ever; at the end it must be answered. */
  protected async patiently<T>(what: string, connection: Connection, answer: Promise<T>): Promise<T> {
    const patience = this.world.loop.after(this.random.between(4000, 12_000), null, () => {
      if (!this.world.patient) connection.abandon(`${what} takes too long`);
    });
    const result = await answer;
    patience.cancel();
    return result;
  }
}

/** Does something to one queue. */
export abstract class QueueActor extends Actor {
  protected readonly queue: string;

  constructor(world: SimWorld, name: string, queue: string) {
    super(world, name);
    this.queue = queue;
  }
}

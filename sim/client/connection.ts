/**
 * A simulated client's connection to one life of one node. Requests travel to the node and answers back, in order; whoever is
 * cut off by the node's death hears of it after a while, and whoever waits for a silent node gives up by heartbeat.
 */
import { RefusedError } from '../../src/base/errors.js';
import type { Context } from '../event-loop.js';
import type { Delivery, DeliveryState, Message } from '../history.js';
import type { SimNode } from '../node.js';
import type { SimWorld } from '../world.js';
import { Session, type Consumer, type PublishRequest, type SessionClient } from './session.js';

/** What became of a request. `lost`: the connection ended first, the outcome is unknown. */
export type Outcome<T> = { kind: 'ok'; value: T } | { kind: 'refused'; error: RefusedError } | { kind: 'lost' };

/** Told what happens on the connection. */
export interface ConnectionOwner {
  readonly name: string;
  confirmed(message: Message): void;
  /** Nacked: it may be in its queues or not. */
  refused(message: Message): void;
  /** It reached no queue; the broker confirms it at once. */
  unroutable(message: Message): void;
  delivered(delivery: Delivery, consumer: Consumer): void;
  cancelled(consumer: Consumer, reason: string): void;
  /** Called once, unless the owner closed it itself. */
  lost(): void;
}

const heartbeatMs = 1500;
const heartbeatsMissedMax = 2;

export class Connection {
  readonly node: SimNode;
  private readonly world: SimWorld;
  private readonly owner: ConnectionOwner;
  private readonly context: Context;
  private session: Session | undefined;
  private closed = false;
  private lastThere = 0;
  private lastBack = 0;
  private readonly waiting = new Set<(outcome: { kind: 'lost' }) => void>();
  private readonly deliveries = new Set<Delivery>();
  private heartbeatsMissed = 0;

  private constructor(world: SimWorld, node: SimNode, owner: ConnectionOwner) {
    this.world = world;
    this.node = node;
    this.owner = owner;
    this.context = node.context;
  }

  /** Resolves to an open connection, or undefined if the node does not answer. */
  static async open(world: SimWorld, node: SimNode, owner: ConnectionOwner): Promise<Connection | undefined> {
    if (!node.alive || !node.serving) {
      await world.loop.sleep(world.clientRandom.between(1, 20));
      return undefined;
    }
    const connection = new Connection(world, node, owner);
    world.history.operations++;
    const died = (machineToo: boolean): void => connection.nodeDied(machineToo);
    node.onDeath.add(died);
    world.connections.add(connection);
    connection.heartbeat();
    const outcome = await connection.request((session) => Promise.resolve(session.id));
    if (outcome.kind !== 'ok') connection.close();
    return outcome.kind === 'ok' ? connection : undefined;
  }

  get isOpen(): boolean {
    return !this.closed;
  }

  /** '' or why the node does not read from publishers now. */
  get gateClosed(): string {
    return this.session?.broker.gate.closed ?? '';
  }

  /** Requests that have not been answered. */
  get unanswered(): number {
    return this.waiting.size;
  }

  /** Asks the node for something; `work` runs there. */
  request<T>(work: (session: Session) => Promise<T>): Promise<Outcome<T>> {
    return new Promise((resolve) => {
      if (this.closed) {
        resolve({ kind: 'lost' });
        return;
      }
      this.waiting.add(resolve);
      this.world.history.operations++;
      const answer = (outcome: Outcome<T>): void =>
        this.back(() => {
          if (this.waiting.delete(resolve)) resolve(outcome);
        });
      this.there((session) => {
        work(session).then(
          (value) => answer({ kind: 'ok', value }),
          (error: unknown) => {
            if (error instanceof RefusedError) answer({ kind: 'refused', error });
            else this.world.fault(error, `request of ${this.owner.name} at ${this.node.name}`);
          },
        );
      });
    });
  }

  get(consumer: Consumer): Promise<Outcome<Delivery | undefined>> {
    return this.request(
      (session) =>
        new Promise((resolve, reject) => {
          session.get(
            consumer,
            (delivery) => {
              if (delivery !== undefined) this.track(delivery);
              resolve(delivery);
            },
            reject,
          );
        }),
    );
  }

  publish(requests: readonly PublishRequest[]): void {
    if (this.closed) return;
    this.there((session) => {
      for (const request of requests) session.publish(request);
    });
  }

  /** Settles a delivery and allows the next one. Does nothing if the connection is lost already. */
  settle(delivery: Delivery, consumer: Consumer, state: DeliveryState): void {
    if (this.closed || delivery.state !== 'held') return;
    this.deliveries.delete(delivery);
    const isNoted = state === 'requeued' && delivery.copy.queue.kind.isNoted === true;
    if (isNoted && (delivery.position + consumer.id) % 3 === 0) delivery.note = ++this.world.lastNote;
    this.world.history.settle(delivery, state);
    this.world.history.asked(consumer, 1);
    this.there((session) => {
      session.settle(delivery);
      session.grant(consumer, 1);
    });
  }

  /** Allows one more delivery. */
  grant(consumer: Consumer): void {
    if (this.closed) return;
    this.world.history.asked(consumer, 1);
    this.there((session) => session.grant(consumer, 1));
  }

  /** The client goes away; it hears nothing more from here. */
  close(): void {
    if (this.closed) return;
    this.there((session) => session.close());
    this.end();
  }

  /** The node closes it; what it has sent before still arrives. */
  dismiss(): void {
    const { loop } = this.world;
    loop.at(loop.now, this.context, () => {
      this.session?.close();
      this.back(() => {
        this.end();
        this.owner.lost();
      });
    });
  }

  /** The client gives up waiting, as when heartbeats stop: for the node the connection closes later. */
  abandon(why: string): void {
    if (this.closed) return;
    this.world.trace.add(this.owner.name, `gives up on ${this.node.name}: ${why}`);
    this.close();
    this.owner.lost();
  }

  private end(): void {
    this.closed = true;
    this.world.connections.delete(this);
    for (const delivery of this.deliveries) this.world.history.settle(delivery, 'dropped');
    this.deliveries.clear();
    for (const resolve of this.waiting) resolve({ kind: 'lost' });
    this.waiting.clear();
  }

  private nodeDied(machineToo: boolean): void {
    if (this.closed) return;
    const { clientRandom, loop } = this.world;
    const delay = machineToo ? clientRandom.between(500, 2500) : clientRandom.between(0.5, 20);
    loop.after(delay, null, () => {
      if (this.closed) return;
      this.end();
      this.owner.lost();
    });
  }

  private heartbeat(): void {
    this.world.loop.after(heartbeatMs * this.world.clientRandom.between(0.8, 1.2), null, () => {
      if (this.closed) return;
      if (this.heartbeatsMissed >= heartbeatsMissedMax) {
        this.abandon('no heartbeat');
        return;
      }
      this.heartbeatsMissed++;
      this.there(() =>
        this.back(() => {
          this.heartbeatsMissed = 0;
        }),
      );
      this.heartbeat();
    });
  }

  /** Runs `work` at the node, in order, after the way there. */
  private there(work: (session: Session) => void): void {
    const { loop, clientRandom } = this.world;
    this.lastThere = Math.max(this.lastThere, loop.now + clientRandom.between(0.05, 0.4));
    loop.at(this.lastThere, this.context, () => {
      this.session ??= this.createSession();
      if (!this.session.isClosed) work(this.session);
    });
  }

  /** Runs `work` at the client, in order, after the way back. */
  private back(work: () => void): void {
    const { loop, clientRandom } = this.world;
    this.lastBack = Math.max(this.lastBack, loop.now + clientRandom.between(0.05, 0.4));
    loop.at(this.lastBack, null, () => {
      if (!this.closed) work();
    });
  }

  private track(delivery: Delivery): void {
    if (this.closed) this.world.history.settle(delivery, 'dropped');
    else if (!delivery.facts.noAck) this.deliveries.add(delivery);
  }

  private createSession(): Session {
    const process = this.node.process!;
    const client: SessionClient = {
      confirmed: (message) => this.back(() => this.owner.confirmed(message)),
      refused: (message) => this.back(() => this.owner.refused(message)),
      unroutable: (message) => this.back(() => this.owner.unroutable(message)),
      delivered: (delivery, consumer) => {
        this.track(delivery);
        this.back(() => {
          delivery.receivedAt = this.world.loop.now;
          this.owner.delivered(delivery, consumer);
        });
      },
      cancelled: (consumer, reason) => this.back(() => this.owner.cancelled(consumer, reason)),
      later: (delayMs, run) => this.world.loop.after(delayMs, this.context, run),
      cut: (reason) => {
        this.world.trace.add(this.node.name, `closes the connection of ${this.owner.name}: ${reason}`);
        this.dismiss();
      },
    };
    const id = `${this.node.name}/${process.probe.boot}/${this.world.nextConnection++}`;
    return new Session(this.world, id, process, client);
  }
}

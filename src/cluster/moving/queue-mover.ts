/**
 * Moves one queue: consumes from the old one, alone, publishes to the new one, and acknowledges what is safe there. It is a client like
 * any other, so that failovers of either group lose, double and reorder nothing; only if its own node dies does what was in its hands
 * come again, flagged. And it says when the next stage may begin (MoveStage).
 */
import type { Clock, Timer } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import { Ring } from '../../base/ring.js';
import type { Rules } from '../../base/rules.js';
import { manifestOf } from '../../log/large.js';
import { EnqueueView, MessageParts, RecordFlag } from '../../log/record.js';
import type { DeliverySink, Holder, PublishOwner, Subscription } from '../../model/broker.js';
import { markerFormat, moverTag } from '../../model/group-service/marker-format.js';
import { MoveStage } from '../../model/wiring/objects.js';
import type { QueueMove } from '../../model/wiring/moves.js';
import type { MoveOn } from '../../model/wiring/operations.js';
import type { WiringTables } from '../../model/wiring/tables.js';
import { RouteTarget } from '../client/cluster-route.js';
import type { GroupClients } from '../client/group-clients.js';
import type { QueueCount } from '../client/requests.js';
import type { WiringClient } from '../wiring/wiring-client.js';
import { PatientGate } from '../client/patient-gate.js';
import { ownConsumer } from '../client/own-consumer.js';
import { PassingWindow } from '../client/passing-window.js';
import { BodyCopy, type ClusterUpload } from '../client/upload.js';

/** A stage may last for as long as a client holds a message, or a node is away: it is looked at less and less often. */
const lookMsMin = 10;
const lookMsMax = 1000;
const subscribeMs = 50;
/** Publishes are not made to wait for what does not move: something has become safe in this time. */
const progressMs = 1000;
/** With so few messages left publishes may wait until they are gone. */
const closeBelow = 1000;
/** If messages come as fast as they go, publishes wait all the same: when the queue has not become shorter in this time. */
const drainMsMax = 10_000;

/** Whose word is waited for. */
export interface MovingNodes {
  /** Every node that routes has said that nothing more comes from it. `seen`: boots that have. */
  routersHave(seen: ReadonlySet<number>): boolean;
  /** Every node that may still have something to send has said so, or is dead. */
  allHave(seen: ReadonlySet<number>): boolean;
}

export interface QueueMoverOptions {
  move: QueueMove;
  clients: GroupClients;
  tables: WiringTables;
  wiring: Pick<WiringClient, 'run'>;
  nodes: MovingNodes;
  /** This node leads the old queue's group. */
  leads(): boolean;
  /** Once nothing comes any more, a node that routes and says nothing is not waited for any longer. */
  patienceMs: number;
  rules: Rules;
  clock: Clock;
  logger: Logger;
}

/** A message in the mover's hands, or a marker. */
interface Held {
  readonly position: number;
  readonly holder: Holder;
  readonly bytes: number;
  /** Of the node whose marker it is; 0: it is a message. */
  readonly markerOf: number;
  isSafe: boolean;
}

/** A message that comes behind a large one, whose body is on its way; or that one itself. */
interface Waiting {
  readonly tag: number;
  readonly redelivered: boolean;
  readonly record: Uint8Array;
}

export class QueueMover implements DeliverySink, PublishOwner {
  private readonly options: QueueMoverOptions;
  private timer: Timer;
  private readonly parts = new MessageParts();
  private readonly window = new PassingWindow();
  private readonly gate: PatientGate;
  /** In order; the tag of the first one is `firstTag`. */
  private readonly held = new Ring<Held>();
  private firstTag = 0;
  private readonly waiting = new Ring<Waiting>();
  private copying: BodyCopy | undefined;
  /** Boots of nodes that have said that nothing more comes. */
  private readonly seen = new Set<number>();
  private subscription: Subscription | undefined;
  private nextSubscribeAt = 0;
  private lookMs = lookMsMin;
  private isAsking = false;
  private stage: MoveStage = MoveStage.draining;
  /** When a message came out of the old queue, or a stage began. */
  private busyAt: number;
  /** When one became safe. */
  private safeAt = Number.NEGATIVE_INFINITY;
  /** The least that was left of the old queue, and when it was. */
  private least = Number.POSITIVE_INFINITY;
  private leastAt = 0;
  isOver = false;

  constructor(options: QueueMoverOptions) {
    this.options = options;
    const { clock, logger, move } = options;
    this.busyAt = clock.now();
    this.gate = new PatientGate(options.tables);
    this.gate.add(move.target);
    this.timer = clock.after(lookMsMin, () => this.look());
    const { vhost, name } = move.source;
    logger.info('a queue moves', { vhost, queue: name, from: move.source.group, to: move.target.group });
  }

  /** The node stops, or the move is over: what is held goes back. */
  close(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.timer.cancel();
    this.copying?.stop();
    this.subscription?.close();
    this.options.clients.forgetPublisher(this);
    this.options.clients.forgetSink(this);
  }

  // ---- DeliverySink ----

  deliver(subscription: Subscription, position: number, redelivered: boolean, message: EnqueueView): void {
    // The first may be here before it is known that there is a subscription.
    this.subscription = subscription;
    this.window.delivered(message.length);
    const isMarker = message.format === markerFormat;
    // Markers are said again and again.
    if (!isMarker) this.busyAt = this.options.clock.now();
    const markerOf = isMarker ? message.publisherBoot : 0;
    this.held.push({ position, holder: subscription, bytes: message.length, markerOf, isSafe: isMarker });
    if (isMarker) return this.advance();
    const tag = this.firstTag + this.held.length - 1;
    if (!message.isLarge && this.waiting.length === 0) return this.passOn(tag, redelivered, message, undefined);
    this.waiting.push({ tag, redelivered, record: message.bytes.slice(message.start, message.start + message.length) });
    if (this.copying === undefined) this.passOnWaiting();
  }

  /** Up to the first large message, which goes on when its body is there. */
  private passOnWaiting(): void {
    const { clients, move } = this.options;
    for (let next = this.waiting.peek(); next !== undefined; next = this.waiting.peek()) {
      const { tag, redelivered, record } = next;
      const message = new EnqueueView().set(record, new DataView(record.buffer), 0);
      if (!message.isLarge) {
        this.waiting.shift();
        this.passOn(tag, redelivered, message, undefined);
        continue;
      }
      const source = clients.client(move.source.group).bodies.openOwn(manifestOf(message.view, message.start));
      const isPersistent = (message.flags & RecordFlag.persistent) !== 0;
      this.copying = new BodyCopy(clients.uploads, source, [this.target()], isPersistent, (copied) => {
        this.copying = undefined;
        this.waiting.shift();
        if (copied !== undefined) this.passOn(tag, redelivered, message, copied);
        else this.refused(tag);
        this.passOnWaiting();
      });
      return;
    }
  }

  private target(): RouteTarget {
    const { clients, move } = this.options;
    const target = new RouteTarget(clients.client(move.target.group), this.gate);
    target.incarnations.push(move.target.position);
    target.durable = move.target.durable;
    return target;
  }

  private passOn(tag: number, redelivered: boolean, message: EnqueueView, copied: ClusterUpload | undefined): void {
    const { target } = this.options.move;
    // What comes now may be older than what the new queue has given out.
    const isLate = this.stage === MoveStage.late || this.stage === MoveStage.swept;
    const durable = (message.flags & RecordFlag.durable) !== 0;
    this.parts.setFrom(message);
    this.parts.redelivered = redelivered || isLate;
    this.parts.moved = true;
    if (copied !== undefined) {
      copied.publishOne(this.target(), this.parts, this, tag);
      copied.abort();
    } else
      this.options.clients.client(target.group).publish(this.parts, [target.position], durable, this, tag, this.gate);
    const held = this.held.at(tag - this.firstTag)!;
    if (!this.options.rules.movedSafeFirst) held.holder.ack(held.position);
  }

  /** The queue is gone, or somebody else consumes from it already. */
  cancelled(subscription: Subscription): void {
    if (this.subscription === subscription) this.subscription = undefined;
  }

  forEachHeld(visit: (holder: Holder, position: number) => void): void {
    for (let i = 0; i < this.held.length; i++) {
      const { holder, position, isSafe, markerOf } = this.held.at(i)!;
      if (!isSafe || markerOf > 0) visit(holder, position);
    }
  }

  // ---- PublishOwner ----

  completed(tag: number): void {
    const held = this.held.at(tag - this.firstTag);
    if (held === undefined || held.isSafe) return;
    held.isSafe = true;
    this.safeAt = this.options.clock.now();
    held.holder.ack(held.position);
    this.advance();
  }

  /** Only a large message without all of its parts, or if that is not known: see PatientGate. It comes again. */
  refused(tag: number): void {
    const held = this.held.at(tag - this.firstTag);
    if (held === undefined || held.isSafe) return;
    held.isSafe = true;
    held.holder.requeue(held.position);
    this.advance();
  }

  // ---- inside ----

  /** Lets go of what is safe, from the front: a marker counts when all before it is. */
  private advance(): void {
    for (let first = this.held.peek(); first?.isSafe === true; first = this.held.peek()) {
      this.held.shift();
      this.firstTag++;
      this.window.done(first.bytes);
      if (first.markerOf === 0) continue;
      this.seen.add(first.markerOf);
      first.holder.ack(first.position);
    }
    this.grant();
  }

  private grant(): void {
    const { subscription } = this;
    if (subscription === undefined) return;
    const count = this.window.take();
    if (count > 0) subscription.grant(count);
  }

  private look(): void {
    const { options } = this;
    const move = options.tables.moves.from(options.move.source.position);
    if (move === undefined) return this.close();
    if (move.stage !== this.stage) {
      this.stage = move.stage;
      this.busyAt = options.clock.now();
      this.lookMs = lookMsMin;
    }
    this.timer = options.clock.after(this.lookMs, () => this.look());
    if (this.stage === MoveStage.late || this.stage === MoveStage.swept)
      this.lookMs = Math.min(this.lookMs * 2, lookMsMax);
    if (this.subscription === undefined) this.subscribe();
    else if (!this.isAsking) this.goOn();
  }

  /** Alone: as long as others consume from it they are on their way to the new queue. */
  private subscribe(): void {
    const { clients, clock, leads, move } = this.options;
    if (this.isAsking || clock.now() < this.nextSubscribeAt || !leads()) return;
    this.nextSubscribeAt = clock.now() + subscribeMs;
    const { group, position, vhost, name } = move.source;
    const request = ownConsumer(this, this.window.begin(), moverTag, vhost, name);
    this.ask(async () => {
      this.subscription = await clients.client(group).consume(position, request);
      this.grant();
    });
  }

  /** The next stage begins as soon as it may. */
  private goOn(): void {
    const { nodes, clock, patienceMs } = this.options;
    const now = clock.now();
    switch (this.stage) {
      case MoveStage.draining:
        return this.count(async ({ ready }) => {
          if (ready < this.least) [this.least, this.leastAt] = [ready, now];
          const isMoving = this.held.length === 0 || now < this.safeAt + progressMs;
          const isDue = ready <= closeBelow || now > this.leastAt + drainMsMax;
          if (isMoving && isDue) await this.say(MoveStage.closing);
        });
      case MoveStage.closing:
        if (nodes.routersHave(this.seen) || (this.held.length === 0 && now > this.busyAt + patienceMs))
          this.ask(() => this.say(MoveStage.late));
        return;
      case MoveStage.late:
        if (nodes.allHave(this.seen)) this.ask(() => this.say(MoveStage.swept));
        return;
      case MoveStage.swept:
        this.count(async ({ ready, unacknowledged }) => {
          if (ready + unacknowledged === 0) await this.say('over');
        });
    }
  }

  /** Looks at what is left of the old queue. */
  private count(decide: (left: QueueCount) => Promise<void>): void {
    const { clients, move } = this.options;
    const { group, position } = move.source;
    this.ask(async () => decide(await clients.client(group).count(position)));
  }

  private async say(stage: MoveOn['stage']): Promise<void> {
    const { wiring, move, logger } = this.options;
    await wiring.run({ op: 'moveOn', incarnation: move.source.position, stage });
    const { vhost, name } = move.source;
    if (stage === 'over') logger.info('a queue has moved', { vhost, queue: name, to: move.target.group });
  }

  /** One thing at a time; what fails is tried again. */
  private ask(run: () => Promise<void>): void {
    this.isAsking = true;
    run()
      .catch((error: Error) => this.options.logger.debug('a move goes on later', { reason: error.message }))
      .finally(() => {
        this.isAsking = false;
      });
  }
}

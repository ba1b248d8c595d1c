/**
 * All groups as this node's AMQP clients use them: makes one GroupClient per group, ties each to the group's primary wherever
 * that is, and hands it the frames that come from there.
 *
 * Every node attaches to every replicated group, used or not: a new primary delivers nothing before each live node has named
 * what its clients hold (rule 13). Local groups of other nodes are attached to when they are first used.
 */
import type { Clock, Timer } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { Rules } from '../../base/rules.js';
import type { Slices } from '../../base/slices.js';
import type { Turn } from '../../base/turn.js';
import { EnqueueView } from '../../log/record.js';
import type { DeliverySink, PublishOwner } from '../../model/broker.js';
import { partBytes } from '../../model/large/sizes.js';
import type { TerminusAnswer } from '../../model/terminus/operations.js';
import type { ExchangeObject, QueueObject } from '../../model/wiring/objects.js';
import type { Frame } from '../link/frame.js';
import type { Link } from '../link/link.js';
import type { Links } from '../link/links.js';
import { isLocalGroup, systemGroup } from '../map.js';
import { FlowStops } from './flow-stops.js';
import { decodeText, FrameType, redeliveredBit } from './frames.js';
import { GroupClient } from './group-client.js';
import type { GroupClientContext, Unfinished } from './group-client-context.js';
import { LocalClient } from './local-client.js';
import type { GroupDirectory, Leadership, LedGroup, UnconfirmedKeeper } from './ports.js';
import { OutboxMemory } from './publish-outbox.js';
import { RemoteTie } from './remote-tie.js';
import { LocalTie, type Tie } from './tie.js';
import type { UploadSettings } from './upload.js';
import { UploadBudget } from './upload-budget.js';

export interface GroupClientsOptions {
  node: string;
  boot: number;
  turn: Turn;
  clock: Clock;
  readonly slices: Slices;
  logger: Logger;
  rules: Rules;
  directory: GroupDirectory;
  /** Undefined for a broker that is alone. */
  links: Links | undefined;
  leaseMs: number;
  /** Bytes of a part of a large message's body. */
  partBytes?: number;
  /** The version of the wiring that this node routes with. */
  wiringVersion(): number;
}

/** A group's client and the attachment that was asked for and not answered yet. */
interface Seat {
  readonly client: GroupClient;
  /** The epoch and link (none: this node itself) of the attachment for which it is being named what is held. */
  naming: { epoch: number; link: Link | undefined } | undefined;
  asked: RemoteTie | undefined;
  /** Set while a refused or broken attachment is not asked for again yet. */
  pause: Timer | undefined;
  /** Set while a primary that has given the group away has not said its last word (rule 20). */
  lastWord: Timer | undefined;
  /** The primaries of epochs up to here have said their last word. */
  over: number;
}

const expirePeriodMs = 1000;
/** A refused or broken attachment is asked for again after this, if nothing was learned before. */
const askAgainMs = 50;
/** Of parts of large messages that are not safe yet, of all uploads. A quarter of what the journal may have in hand (`journalPendingBytesMax`). */
const uploadBytesMax = 16 * 1024 * 1024;
/** A primary that has given its group away is waited for; if it says nothing for so long it hangs. */
const lastWordMs = 1000;

export class GroupClients implements UnconfirmedKeeper {
  readonly memory: OutboxMemory = new OutboxMemory();
  readonly stops: FlowStops = new FlowStops();
  /** For large messages that this node sends. */
  readonly uploads: UploadSettings;
  private readonly options: GroupClientsOptions;
  private readonly context: GroupClientContext;
  private readonly seats = new Map<number, Seat>();
  private readonly expiry: Timer;
  private readonly view = new EnqueueView();

  constructor(options: GroupClientsOptions) {
    this.options = options;
    this.uploads = {
      boot: options.boot,
      partBytes: options.partBytes ?? partBytes,
      budget: new UploadBudget(uploadBytesMax),
      clock: options.clock,
      published: () => {},
    };
    this.context = {
      boot: options.boot,
      turn: options.turn,
      clock: options.clock,
      rules: options.rules,
      memory: this.memory,
      slices: options.slices,
      leaseMs: options.leaseMs,
      wiringVersion: () => options.wiringVersion(),
    };
    options.directory.onChange((group) => this.changed(group));
    if (options.links !== undefined) this.useLinks(options.links);
    this.expiry = options.clock.every(expirePeriodMs, () => {
      for (const [group, seat] of this.seats) {
        seat.client.expireRequests();
        // It may be over by now.
        if (isLocalGroup(group) && seat.client.attachment === undefined) this.attach(group, seat);
      }
    });
  }

  /** The client of the group, made when first asked for. */
  client(group: number): GroupClient {
    return this.seat(group).client;
  }

  /** Of the group in which messages wait that are to go on from the exchange. */
  delaying(exchange: ExchangeObject): GroupClient {
    return this.client(this.options.directory.delayGroup(exchange.vhost, exchange.name));
  }

  /** A queue has moved from one group to another: who consumes from it goes along. */
  queueMoved(from: QueueObject, to: QueueObject): void {
    const client = this.client(to.group);
    this.client(from.group).moveSubscriptions(from.position, { client, incarnation: to.position });
  }

  keepPublish(group: number, bytes: Uint8Array, view: DataView, start: number): void {
    this.client(group).keepPublish(bytes, view, start);
  }

  /** This node's own service has broken the tie to its clients: they attach again. */
  broken(group: number): void {
    const seat = this.seats.get(group);
    if (seat !== undefined) this.askAgain(group, seat);
  }

  /** What is not finished, of all groups together. */
  unfinished(): Unfinished {
    const sum: Unfinished = { publishes: 0, settlements: 0, requests: 0, subscriptions: 0, bodies: 0, channels: 0 };
    for (const { client } of this.seats.values()) {
      const { unfinished } = client;
      for (const key of Object.keys(sum) as (keyof Unfinished)[]) sum[key] += unfinished[key];
    }
    return sum;
  }

  forgetPublisher(owner: PublishOwner): void {
    for (const { client } of this.seats.values()) client.forgetPublisher(owner);
  }

  forgetSink(sink: DeliverySink): void {
    for (const { client } of this.seats.values()) client.forgetSink(sink);
  }

  close(): void {
    this.expiry.cancel();
    for (const seat of this.seats.values()) {
      seat.pause?.cancel();
      seat.client.close();
      seat.lastWord?.cancel();
    }
  }

  private seat(group: number): Seat {
    let seat = this.seats.get(group);
    if (seat === undefined) {
      const client = new GroupClient(group, this.context);
      seat = { client, naming: undefined, asked: undefined, pause: undefined, lastWord: undefined, over: 0 };
      this.seats.set(group, seat);
      this.attach(group, seat);
    }
    return seat;
  }

  /** The system group's messages are declarations: nobody publishes to it or consumes from it. */
  private changed(group: number): void {
    if (group === systemGroup) return;
    const seat = this.seats.get(group);
    if (seat !== undefined) this.attach(group, seat);
    else if (!isLocalGroup(group)) this.seat(group);
  }

  /** Makes the attachment fit what is known of the group's primary and of the link to it. */
  private attach(group: number, seat: Seat): void {
    const { directory, links, node, boot } = this.options;
    if (directory.isOver(group)) return this.abandon(seat);
    const leadership = directory.leadership(group);
    if (leadership === undefined) return this.detach(seat);
    if (leadership.epoch <= seat.over) return directory.learnSoon();
    if (this.awaitsLastWord(group, seat, leadership)) return;
    if (leadership.node === node) {
      const led = directory.led(group);
      if (led === undefined || led.epoch !== leadership.epoch || leadership.boot !== boot) return this.detach(seat);
      const tie = seat.client.attachment;
      if (tie?.direct !== undefined && tie.epoch === led.epoch) return;
      if (!isNaming(seat, led.epoch, undefined)) this.attachHere(seat, led);
      return;
    }
    const link = links?.get(leadership.node);
    if (link === undefined || link.peer.boot !== leadership.boot) return this.detach(seat);
    const tie = seat.asked ?? seat.client.attachment;
    if (tie instanceof RemoteTie && tie.link === link && tie.epoch === leadership.epoch) return;
    if (!isNaming(seat, leadership.epoch, link)) this.askFor(seat, link, leadership.epoch);
  }

  /**
   * A planned move: the old primary, to which we are attached, lives, and what it has sent is still on its way. Nobody else is
   * attached to before that has come, lest messages overtake each other.
   */
  private awaitsLastWord(group: number, seat: Seat, { epoch, movedFrom }: Leadership): boolean {
    const tie = seat.client.attachment;
    const waits =
      this.options.rules.endMark &&
      movedFrom !== undefined &&
      tie instanceof RemoteTie &&
      tie.epoch < epoch &&
      tie.epoch > seat.over &&
      tie.link.peer.node === movedFrom.node &&
      this.options.links?.get(movedFrom.node) === tie.link;
    if (!waits) {
      seat.lastWord?.cancel();
      seat.lastWord = undefined;
      return false;
    }
    seat.lastWord ??= this.options.clock.after(lastWordMs, () => {
      seat.lastWord = undefined;
      this.lastWordOf(group, seat, tie);
    });
    return true;
  }

  /** Nothing of that attachment counts any more. */
  private lastWordOf(group: number, seat: Seat, { epoch }: Tie): void {
    seat.over = Math.max(seat.over, epoch);
    this.detach(seat);
    this.attach(group, seat);
  }

  private attachHere(seat: Seat, led: LedGroup): void {
    const { node, boot } = this.options;
    const { client } = seat;
    seat.asked = undefined;
    seat.naming = { epoch: led.epoch, link: undefined };
    client.beginAttachment((number, held) => {
      seat.naming = undefined;
      const port = led.service.attach(
        node,
        boot,
        new LocalClient(client, number, this.stops),
        held,
        client.confirmedSequence,
      );
      client.attached(new LocalTie(number, led.epoch, port));
    });
  }

  private askFor(seat: Seat, link: Link, epoch: number): void {
    const { client } = seat;
    seat.asked = undefined;
    seat.naming = { epoch, link };
    client.beginAttachment((number, held) => {
      seat.naming = undefined;
      seat.asked = new RemoteTie(link, client.group, number, epoch, () => client.touch());
      seat.asked.attach(held, client.confirmedSequence);
    });
  }

  private askAgain(group: number, seat: Seat): void {
    this.detach(seat);
    seat.pause ??= this.options.clock.after(askAgainMs, () => {
      seat.pause = undefined;
      this.attach(group, seat);
    });
  }

  private detach(seat: Seat): void {
    seat.asked = undefined;
    seat.naming = undefined;
    seat.client.detached();
  }

  private abandon(seat: Seat): void {
    seat.asked = undefined;
    seat.naming = undefined;
    this.stops.forget(seat.client.group);
    seat.client.abandon(`the node of group ${seat.client.group}, which alone held the queue, is gone`);
  }

  // ---- links ----

  private useLinks(links: Links): void {
    links.observe({
      up: (link) => {
        link.onDrain(() => this.drained(link));
        for (const [group, seat] of this.seats) this.attach(group, seat);
      },
      down: () => {
        for (const [group, seat] of this.seats) this.attach(group, seat);
      },
    });
    links.handle(FrameType.attached, (link, frame) => this.attached(link, frame));
    links.handle(FrameType.refused, (link, frame) => this.refused(link, frame));
    links.handle(FrameType.moved, (_link, frame) => this.moved(frame));
    for (const type of answerTypes) links.handle(type, (_link, frame) => this.answered(frame));
  }

  private drained(link: Link): void {
    for (const { client } of this.seats.values()) {
      const tie = client.attachment;
      if (tie instanceof RemoteTie && tie.link === link) client.touch();
    }
  }

  private attached(link: Link, frame: Frame): void {
    const seat = this.seats.get(frame.group);
    const asked = seat?.asked;
    if (seat === undefined || asked === undefined || asked.link !== link) return;
    if (asked.number !== frame.view.getUint32(frame.start, true)) return;
    const { view, start, end } = frame;
    if (end - start >= 24) asked.taken = view.getFloat64(start + 16, true);
    seat.asked = undefined;
    seat.client.attached(asked);
  }

  /** The primary has given the group away, or lost it; its last word. */
  private moved(frame: Frame): void {
    const seat = this.seats.get(frame.group);
    const tie = seat?.client.attachment;
    if (seat === undefined || !(tie instanceof RemoteTie)) return;
    if (seat.client.isCurrent(frame.view.getUint32(frame.start, true))) this.lastWordOf(frame.group, seat, tie);
  }

  /** There is a newer primary, of which this node will learn from the map; or the service has broken the tie. */
  private refused(link: Link, frame: Frame): void {
    const seat = this.seats.get(frame.group);
    if (seat === undefined || !seat.client.isCurrent(frame.view.getUint32(frame.start, true))) return;
    this.options.logger.debug('attachment refused', {
      node: link.peer.node,
      group: frame.group,
      epochThere: frame.view.getFloat64(frame.start + 8, true),
    });
    this.askAgain(frame.group, seat);
  }

  private answered(frame: Frame): void {
    const client = this.seats.get(frame.group)?.client;
    const { bytes, view, start, end } = frame;
    if (client === undefined || !client.isCurrent(view.getUint32(start, true))) return;
    const id = view.getUint32(start + 4, true);
    switch (frame.type) {
      case FrameType.confirmed:
        // An older primary does not say how many are in sync: it holds confirms itself.
        return client.confirmed(view.getFloat64(start + 8, true), id === 0 ? Number.POSITIVE_INFINITY : id);
      case FrameType.rejected:
        for (let at = start + 8; at + 8 <= end; at += 8) client.rejected(view.getFloat64(at, true));
        return;
      case FrameType.flow: {
        const queues: number[] = [];
        for (let at = start + 8; at + 8 <= end; at += 8) queues.push(view.getFloat64(at, true));
        return this.stops.told(frame.group, queues, (id & 1) !== 0, (id & 2) !== 0);
      }
      case FrameType.settled:
        return client.settled(view.getFloat64(start + 8, true));
      case FrameType.deliver: {
        const message = this.view.set(bytes, view, start + 16);
        const redelivered = id >= redeliveredBit;
        const subscriber = redelivered ? id - redeliveredBit : id;
        return client.deliver(subscriber, view.getFloat64(start + 8, true), message.lsn, redelivered, message, 0);
      }
      case FrameType.deliverCounted: {
        const message = this.view.set(bytes, view, start + 24);
        const returns = view.getUint32(start + 16, true);
        return client.deliver(id, view.getFloat64(start + 8, true), message.lsn, true, message, returns);
      }
      case FrameType.subscribed:
        return client.subscribed(id, decodeText(bytes, start + 8, end));
      case FrameType.unsubscribed:
        return client.unsubscribed(id);
      case FrameType.drained:
        return client.drained(id);
      case FrameType.cancelled:
        return client.cancelled(id, decodeText(bytes, start + 8, end));
      case FrameType.got: {
        const message = this.view.set(bytes, view, start + 24);
        const remaining = view.getUint32(start + 16, true);
        const redelivered = bytes[start + 20] === 1;
        const returns = view.getUint16(start + 22, true);
        const incarnation = view.getFloat64(start + 8, true);
        return client.got(id, incarnation, message.lsn, redelivered, remaining, message, returns);
      }
      case FrameType.gotNothing:
        return client.gotNothing(id, decodeText(bytes, start + 8, end));
      case FrameType.counted: {
        const ready = view.getFloat64(start + 8, true);
        return client.counted(id, ready, view.getFloat64(start + 16, true), view.getFloat64(start + 24, true));
      }
      case FrameType.terminusAnswered:
        return client.requests.terminusAnswered(id, JSON.parse(decodeText(bytes, start + 8, end)) as TerminusAnswer);
      case FrameType.bodyPart:
        return client.bodies.part(id, view.getUint32(start + 8, true), bytes, start + 16, end);
      case FrameType.bodyGone:
        return client.bodies.gone(id);
      case FrameType.purged:
        return client.purged(id, view.getFloat64(start + 8, true), decodeText(bytes, start + 16, end));
    }
  }
}

function isNaming({ naming }: Seat, epoch: number, link: Link | undefined): boolean {
  return naming !== undefined && naming.epoch === epoch && naming.link === link;
}

const answerTypes = [
  FrameType.confirmed,
  FrameType.rejected,
  FrameType.flow,
  FrameType.settled,
  FrameType.deliver,
  FrameType.deliverCounted,
  FrameType.subscribed,
  FrameType.unsubscribed,
  FrameType.cancelled,
  FrameType.got,
  FrameType.gotNothing,
  FrameType.counted,
  FrameType.purged,
  FrameType.bodyPart,
  FrameType.bodyGone,
  FrameType.drained,
  FrameType.terminusAnswered,
];

/**
 * Liveness by heartbeats: the nodes promise each other. No coordinator is asked.
 *
 *   A ── ping, sent at s by A's clock ──▶ B      B notes when it answers, by its own clock: t
 *   A ◀──────────── pong, carries s ───── B
 *
 * By answering, B promises A's boot for the lease time T not to replace it: not to take over from it, not to give away what
 * its clients hold. A relies on that until s + T - margin; B keeps it until t + T + margin. As B answers after A sent, A's
 * trust ends before B's promise does, as long as their clocks drift apart by less than two margins within T. A clock that
 * jumps ahead ends trust early, which is safe; it never goes back and counts suspended time (see Clock).
 *
 * - A boot that was just learned, and everyone else at our own start, is given T + margin before it may be replaced: what our
 *   own former boot promised is kept that way (rule 11).
 * - Known dead, so replaceable at once: its link is lost and then its address refuses a call that began after the loss; or a
 *   later boot of its store is known, since a store is locked by one process.
 * - A frozen process finds its promises run out when it thaws: at the next read its links are closed before anything that
 *   waited in them is handed on (rule 13), and its tenures hold no more.
 * - While a deposal is held its boot is promised nothing, so that no promise is made during the compare-and-set.
 * - Whoever was given up, reported gone or deposed, may be alive and rest on an older promise of ours. So promises say how
 *   often that has happened: with the first one after it those before end there, and tenures hold again only when the record
 *   was read since.
 * - A link is up only when both ends have promised: whoever is sent anything may rely on the sender.
 *
 * What it cannot do: if something between the nodes refuses calls on behalf of a living node and has cut its link as well, the
 * node is taken for dead too early (`takeover: fast`), and two primaries may deliver for up to T. `takeover: strict`, which
 * would wait T before it delivers, is not built.
 */
import type { Clock, Timer } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { Rules } from '../../base/rules.js';
import { type Frame, FrameError } from '../link/frame.js';
import { FrameType } from '../link/frame-types.js';
import type { Link } from '../link/link.js';
import type { Links } from '../link/links.js';
import type { Replica } from '../map.js';
import type { BootPromises } from './boot-promises.js';
import { KnownBoots } from './known-boots.js';
import type { Deposal, GoneReason, Liveness, LivenessListener, Tenure } from './liveness.js';
import { Tenures } from './tenures.js';

export interface HeartbeatTimes {
  /** Between two pings on a link; default 200. */
  heartbeatMs: number;
  /** T, the time of a promise; default 2000. */
  leaseMs: number;
  /** What each side takes off or adds for drifting clocks; default 100. */
  marginMs: number;
  /** Whether a refused call counts as death: 'fast' does; see above. */
  takeover: 'fast';
}

/** Times that go with a lease: ten heartbeats in it, and a twentieth of it for clocks that drift apart. */
export function heartbeatTimesFor(leaseMs: number): HeartbeatTimes {
  return { heartbeatMs: leaseMs / 10, leaseMs, marginMs: leaseMs / 20, takeover: 'fast' };
}

export const heartbeatTimes: HeartbeatTimes = heartbeatTimesFor(2000);

export interface HeartbeatOptions {
  self: Replica;
  links: Links;
  clock: Clock;
  logger: Logger;
  rules: Rules;
  times?: Partial<HeartbeatTimes>;
  /** False while this node makes no progress (its disk hangs): it asks for no promise, so that others may take over. */
  mayRenew?: () => boolean;
}

export class HeartbeatLiveness implements Liveness {
  private readonly self: Replica;
  private readonly links: Links;
  private readonly clock: Clock;
  private readonly logger: Logger;
  private readonly rules: Rules;
  private readonly times: HeartbeatTimes;
  private readonly mayRenew: () => boolean;
  private readonly boots = new KnownBoots();
  private readonly tenures: Tenures;
  private readonly listeners = new Set<LivenessListener>();
  private readonly startedAt: number;
  private readonly ticks: Timer;
  private nextPingAt: number;

  /** Becomes the guard of `links`; to be made before the first link. Throws a RangeError if the times do not fit together. */
  constructor(options: HeartbeatOptions) {
    const times = { ...heartbeatTimes, ...options.times };
    if (!(times.marginMs >= 0 && times.heartbeatMs > 0 && times.leaseMs > times.marginMs + 2 * times.heartbeatMs)) {
      throw new RangeError(`a lease of ${times.leaseMs} ms must be longer than its margin and two heartbeats`);
    }
    this.times = times;
    this.self = options.self;
    this.links = options.links;
    this.clock = options.clock;
    this.logger = options.logger;
    this.rules = options.rules;
    this.mayRenew = options.mayRenew ?? ((): boolean => true);
    this.tenures = new Tenures(options.clock, (node, boot) => this.boots.get(node, boot));
    this.startedAt = options.clock.now();
    this.nextPingAt = this.startedAt;
    this.links.setGuard({
      greeted: (link) => this.greeted(link),
      mayRead: (link) => this.mayRead(link),
      closed: (link) => this.linkClosed(link),
    });
    this.links.observe({
      known: (node, store, boot) => this.learn({ node, store, boot }),
      refused: (node, dial) => this.refused(node, dial),
    });
    this.links.handle(FrameType.ping, (link, frame) => this.ping(link, frame));
    this.links.handle(FrameType.pong, (link, frame) => this.pong(link, frame));
    this.ticks = this.clock.every(times.heartbeatMs / 4, () => this.tick());
  }

  learn(replica: Replica): void {
    if (!this.isSelf(replica.node, replica.boot)) this.known(replica.node, replica.boot, replica.store);
  }

  mayDepose(node: string, boot: number): boolean {
    return !this.isSelf(node, boot) && this.maySupersede(this.known(node, boot));
  }

  depose(node: string, boot: number): Deposal | null {
    if (!this.mayDepose(node, boot)) return null;
    const known = this.known(node, boot);
    known.deposals++;
    known.givenUp++;
    let held = true;
    return {
      end: (): void => {
        if (!held) return;
        held = false;
        known.deposals--;
        if (known.owed !== undefined) this.answer(known, known.owed);
      },
    };
  }

  tenure(members: readonly Replica[], askedAt?: number): Tenure {
    return this.tenures.begin(members, askedAt);
  }

  promisedUntil(node: string, boot: number): number {
    return this.boots.get(node, boot)?.promisedUntil ?? Number.NEGATIVE_INFINITY;
  }

  observe(listener: LivenessListener): { close(): void } {
    this.listeners.add(listener);
    return { close: () => this.listeners.delete(listener) };
  }

  close(): void {
    this.ticks.cancel();
    this.listeners.clear();
  }

  private isSelf(node: string, boot: number): boolean {
    return node === this.self.node && boot === this.self.boot;
  }

  private maySupersede(known: BootPromises): boolean {
    if (known.dead) return true;
    if (!this.rules.liveNotDeposed && !known.link) return true;
    const first = this.rules.newBootWaits ? Math.max(this.startedAt, known.knownAt) : Number.NEGATIVE_INFINITY;
    return this.clock.now() >= Math.max(first, known.answeredAt) + this.times.leaseMs + this.times.marginMs;
  }

  /** The boot, from now on at the latest; its store if it is known by now. */
  private known(node: string, boot: number, store = ''): BootPromises {
    let known = this.boots.get(node, boot);
    const news = !known || (known.store === '' && store !== '');
    known ??= this.boots.add(node, store, boot, this.clock.now(), this.links.lastDial);
    if (!news) return known;
    known.store = store;
    this.compareBoots(node);
    if (!known.dead && !known.link) this.links.probe(node);
    return known;
  }

  /** Later boots of a store prove the earlier ones dead, our own former ones as well. */
  private compareBoots(node: string): void {
    for (const known of [...this.boots.of(node)]) {
      const ours = node === this.self.node && known.store === this.self.store && known.boot < this.self.boot;
      if (ours || this.boots.isOutlived(known)) this.died(known, 'a later boot of its store is known');
    }
  }

  private died(known: BootPromises, evidence: string): void {
    if (known.dead) return;
    known.dead = true;
    this.logger.info('known dead', { node: known.node, boot: known.boot, evidence });
    this.report(known, 'dead');
  }

  private report(known: BootPromises, reason: GoneReason): void {
    if (known.reported === reason) return;
    known.reported = reason;
    known.givenUp++;
    for (const listener of [...this.listeners]) listener.gone(known.node, known.boot, reason);
  }

  private greeted(link: Link): void {
    const known = this.known(link.peer.node, link.peer.boot, link.peer.store);
    known.link = link;
    known.greetedAt = this.clock.now();
    known.heard = false;
    known.answered = false;
    known.owed = undefined;
    if (known.dead) {
      known.dead = false;
      known.reported = '';
      this.logger.warn('was taken for dead and is alive: something refused calls in its place', {
        node: known.node,
        boot: known.boot,
      });
      for (const listener of [...this.listeners]) listener.back(known.node, known.boot);
    }
    this.askPromise(known);
  }

  private mayRead(link: Link): boolean {
    const known = this.boots.get(link.peer.node, link.peer.boot);
    if (!known || known.link !== link) return true;
    if (!known.heard || this.clock.now() < known.promisedUntil) return true;
    this.lapse(known);
    return false;
  }

  private linkClosed(link: Link): void {
    const known = this.boots.get(link.peer.node, link.peer.boot);
    if (!known || known.link !== link) return;
    known.link = undefined;
    known.dial = this.links.lastDial;
  }

  private refused(node: string, dial: number): void {
    for (const known of [...this.boots.of(node)]) {
      if (!known.link && dial > known.dial) this.died(known, 'its link is lost and its address refuses calls');
    }
  }

  private tick(): void {
    const now = this.clock.now();
    const due = now >= this.nextPingAt;
    if (due) this.nextPingAt = now + this.times.heartbeatMs;
    for (const known of this.boots.all()) {
      if (now >= known.promisedUntil) this.lapse(known);
      if (known.link && !known.heard && now >= known.greetedAt + this.times.leaseMs) {
        known.link.close('timeout', 'it promised nothing in time');
      }
      if (due && known.link) this.askPromise(known);
      if (this.maySupersede(known)) this.forsake(known);
    }
  }

  /** Nothing is promised to it any more. It must call again: what it sent before may rest on what it was promised. */
  private forsake(known: BootPromises): void {
    this.report(known, known.dead ? 'dead' : 'lapsed');
    if (!known.dead) known.link?.close('timeout', 'it asked for no promise for the time of a lease');
  }

  /** Its promise to us has run out, if it had given one. */
  private lapse(known: BootPromises): void {
    if (known.promisedUntil === Number.NEGATIVE_INFINITY) return;
    this.forget(known, 'promise lapsed');
    known.link?.close('timeout', 'nothing was heard for the time of a lease, or this process stood still');
  }

  /** What it has promised us until now does not count any more. */
  private forget(known: BootPromises, why: string): void {
    known.promisedUntil = Number.NEGATIVE_INFINITY;
    known.promisedSince = Number.POSITIVE_INFINITY;
    this.tenures.changed(known.node, known.boot);
    this.logger.warn(why, { node: known.node, boot: known.boot });
    for (const listener of [...this.listeners]) listener.lapsed(known.node, known.boot);
  }

  private askPromise(known: BootPromises): void {
    if (this.mayRenew()) sendPing(known.link!, this.clock.now());
  }

  private ping(link: Link, frame: Frame): void {
    const sentAt = readTime(frame);
    const known = this.boots.get(link.peer.node, link.peer.boot);
    if (!known || known.link !== link) return;
    if (known.deposals > 0) known.owed = sentAt;
    else this.answer(known, sentAt);
  }

  private answer(known: BootPromises, sentAt: number): void {
    known.owed = undefined;
    if (known.deposals > 0 || !known.link) return;
    sendPong(known.link, sentAt, known.givenUp);
    known.answeredAt = this.clock.now();
    known.reported = '';
    known.answered = true;
    this.readyIfMutual(known);
  }

  private pong(link: Link, frame: Frame): void {
    const sentAt = readTime(frame);
    const now = this.clock.now();
    const known = this.boots.get(link.peer.node, link.peer.boot);
    if (!known || known.link !== link) return;
    if (!(sentAt <= now)) throw new FrameError(`a pong for a ping of ${sentAt}, now is ${now}`);
    const until = (this.rules.leaseFromSend ? sentAt : now) + this.times.leaseMs - this.times.marginMs;
    if (now >= known.promisedUntil) this.lapse(known);
    if (known.link !== link) return;
    if (this.wasGivenUp(known, readGivenUp(frame)) && known.link !== link) return;
    if (until <= now) return;
    known.heard = true;
    if (known.promisedUntil === Number.NEGATIVE_INFINITY) known.promisedSince = now;
    if (until > known.promisedUntil) {
      known.promisedUntil = until;
      this.tenures.changed(known.node, known.boot);
    }
    this.readyIfMutual(known);
  }

  /** By this promise it had given us up since the last one: that one, if it stands, is void. */
  private wasGivenUp(known: BootPromises, times: number): boolean {
    if (times === known.givenUpThere) return false;
    known.givenUpThere = times;
    if (known.promisedUntil === Number.NEGATIVE_INFINITY) return false;
    this.forget(known, 'it had given us up: what it promised before is void');
    // On a link that was used already, what waits to be read may rest on that.
    if (known.heard) known.link?.close('timeout', 'it had given us up');
    return true;
  }

  private readyIfMutual(known: BootPromises): void {
    if (known.heard && known.answered && known.link) this.links.ready(known.link);
  }
}

function sendPing(link: Link, time: number): void {
  const output = link.beginFrame(FrameType.ping, 0, 8);
  output.view.setFloat64(output.offset, time, true);
}

/** f64 the ping's time, u32 how often the receiver was given up. */
function sendPong(link: Link, time: number, givenUp: number): void {
  const output = link.beginFrame(FrameType.pong, 0, 12);
  output.view.setFloat64(output.offset, time, true);
  output.view.setUint32(output.offset + 8, givenUp, true);
}

function readGivenUp(frame: Frame): number {
  if (frame.end - frame.start < 12) throw new FrameError('a pong is cut short');
  return frame.view.getUint32(frame.start + 8, true);
}

function readTime(frame: Frame): number {
  if (frame.end - frame.start < 8) throw new FrameError(`frame type ${frame.type} without its time`);
  return frame.view.getFloat64(frame.start, true);
}

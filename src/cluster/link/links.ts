/**
 * A node's links to all other nodes: exactly one per pair. The node with the smaller name dials; the other one only probes an
 * address whose link was lost, because a refusal is evidence of death (rule 11), and to say by its hello that it is there: the
 * waits between calls grow, so that a node that hangs is not called all the time, and that ends them. A link is up when hellos
 * were exchanged, sealed with the cluster's secret (handshake.ts), and the guard (liveness) agrees; from then on frames go to the handlers registered for their types.
 *
 *   dial / accept → proof of the secret → hello both ways → guard.greeted → ready → up … down → redial, or probe
 */
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { Random } from '../../base/random.js';
import { RareLog } from '../../base/rare-log.js';
import type { Turn } from '../../base/turn.js';
import { protocolVersions, type SpokenVersions, type VersionRange } from '../../base/versions.js';
import type { ByteStream, Transport } from '../byte-stream.js';
import type { Member } from '../map.js';
import type { ClusterSecret } from './cluster-secret.js';
import { Dialer } from './dialer.js';
import { type Frame, FrameError, type FrameHandler, firstFreeType } from './frame.js';
import { payloadBytesMin } from './frame-types.js';
import { Greeter, type Greeting } from './greeter.js';
import type { LinkIdentity } from './hello.js';
import { type Evidence, Link, type LinkLimits, type LinkOwner, linkLimits } from './link.js';

export interface LinksOptions {
  self: LinkIdentity;
  /** Protocol versions that this node speaks; default: all that the program knows. */
  versions?: VersionRange;
  /** What the cluster speaks now; default: the first version. */
  spoken?: () => SpokenVersions;
  /** Why a node with that store may not have a link; '' = it may. */
  stranger?: (store: string) => string;
  secret: ClusterSecret;
  transport: Transport;
  clock: Clock;
  turn: Turn;
  random: Random;
  logger: Logger;
  limits?: Partial<LinkLimits>;
  /** Default 1000. */
  dialTimeoutMs?: number;
  /** From connection to hello; default 2000. */
  helloTimeoutMs?: number;
  /**
   * Waits between attempts to dial; defaults 5 and 1000. The first attempt is made at once: after a loss, and when there is news of
   * the node.
   */
  redialMsMin?: number;
  redialMsMax?: number;
}

export interface LinksListener {
  up?(link: Link): void;
  /** Once for every `up`. The link is closed, and `links.get` does not return it any more. */
  down?(link: Link, evidence: Evidence): void;
  /** A boot of a node became known, from the map or from its hello. */
  known?(node: string, store: string, boot: number): void;
  /** Nothing listens at the node's address, as found by attempt number `dial` (see `lastDial`). */
  refused?(node: string, dial: number): void;
}

/** Decides when a link is up and whether what arrives may be handed on. */
export interface LinkGuard {
  /** Hellos were exchanged. `links.ready(link)` is to follow when the link may come up. */
  greeted(link: Link): void;
  /** Asked at each read, before anything of it is looked at; false closes the link unread (rule 13). */
  mayRead(link: Link): boolean;
  /** A link that was greeted is closed, whether it was up or not; before anybody else is told. */
  closed(link: Link): void;
}

/** What is known of one other node. */
interface Peer {
  node: string;
  /** The map names it. */
  member: boolean;
  address: string;
  /** The newest boot known; older ones are refused. */
  boot: number;
  /** Admitted, up or about to be. */
  link: Link | undefined;
  dialer: Dialer;
  /** It was dialed, and has not answered our hello yet. */
  greeting: boolean;
  /** The last reason why there is no link, so that each is logged once. */
  trouble: string;
}

export class Links {
  /** This node as it introduces itself. */
  readonly self: LinkIdentity;
  private readonly options: Required<LinksOptions>;
  private readonly limits: LinkLimits;
  private readonly logger: Logger;
  private readonly greeter: Greeter;
  private readonly strangers: RareLog;
  private readonly peers = new Map<string, Peer>();
  private readonly handlers: (FrameHandler | undefined)[] = new Array<undefined>(256).fill(undefined);
  private readonly unknownTypes = new Set<number>();
  private readonly listeners: LinksListener[] = [];
  private guard: LinkGuard = { greeted: (link) => this.ready(link), mayRead: () => true, closed: () => {} };
  private listening: { address: string; close(): Promise<void> } | undefined;
  private dials = 0;
  private stopped = false;

  constructor(options: LinksOptions) {
    this.self = { ...options.self };
    this.logger = options.logger;
    this.limits = { ...linkLimits, ...options.limits };
    const spoken = (): SpokenVersions => ({ version: 1, versionFloor: 1 });
    const versions = { versions: protocolVersions, spoken };
    const defaults = {
      ...versions,
      stranger: (): string => '',
      limits: {},
      dialTimeoutMs: 1000,
      helloTimeoutMs: 2000,
      redialMsMin: 5,
      redialMsMax: 1000,
    };
    this.options = { ...defaults, ...options };
    this.strangers = new RareLog(options.logger, options.clock, turnedAwayText);
    this.greeter = new Greeter({
      self: this.self,
      versions: this.options.versions,
      spoken: () => this.options.spoken(),
      secret: options.secret,
      clock: options.clock,
      random: options.random,
      helloTimeoutMs: this.options.helloTimeoutMs,
      decline: (link) => this.decline(link),
      admit: (link) => this.admit(link),
      refused: (_link, node, reason) => this.note(node, reason),
    });
  }

  /**
   * Takes calls at HOST:PORT (port 0 = any); resolves to the address as bound, which the hellos carry from now on. Nobody is called
   * before: it would call back, and take a refusal for death.
   */
  async listen(address: string): Promise<string> {
    this.listening = await this.options.transport.listen(address, (stream) => {
      if (this.stopped) stream.close();
      else this.greeter.begin(this.open(stream, false), '');
    });
    this.self.address = this.listening.address;
    for (const peer of this.peers.values()) if (!peer.link) this.call(peer);
    return this.listening.address;
  }

  /** Sets the handler for a frame type (>= 16), once. It may throw a FrameError for a payload it cannot read. */
  handle(type: number, handler: FrameHandler): void {
    if (this.handlers[type]) throw new Error(`frame type ${type} has a handler already`);
    this.handlers[type] = handler;
  }

  observe(listener: LinksListener): void {
    this.listeners.push(listener);
  }

  /** Without a guard a link is up as soon as hellos were exchanged. */
  setGuard(guard: LinkGuard): void {
    this.guard = guard;
  }

  /** The nodes that the cluster map names now. Others are dialed no more and their links closed. */
  setMembers(members: Iterable<Member>): void {
    const named = new Set<string>();
    for (const member of members) {
      if (member.node === this.self.node) continue;
      named.add(member.node);
      const peer = this.peer(member.node);
      peer.member = true;
      if (member.boot >= peer.boot) peer.address = member.address;
      this.learn(peer, member.store, member.boot);
      if (!peer.link && this.dialsTo(peer)) this.call(peer);
    }
    for (const peer of this.peers.values()) {
      if (!peer.member || named.has(peer.node)) continue;
      peer.member = false;
      peer.dialer.stop();
      peer.link?.close('closed', `${peer.node} is no member any more`);
    }
  }

  /** The link to that node, if it is up. */
  get(node: string): Link | undefined {
    const link = this.peers.get(node)?.link;
    return link?.up ? link : undefined;
  }

  /** All links that are up. */
  *all(): Generator<Link> {
    for (const peer of this.peers.values()) if (peer.link?.up) yield peer.link;
  }

  /** Number of the last attempt begun: a refusal found by an earlier one says nothing of what is learned now. */
  get lastDial(): number {
    return this.dials;
  }

  /** Has the node's address called until it is refused or a link is there. */
  probe(node: string): void {
    const peer = this.peers.get(node);
    if (peer && !peer.link) this.call(peer);
  }

  /** Closes all links and stops listening. */
  async close(): Promise<void> {
    this.stopped = true;
    for (const peer of this.peers.values()) {
      peer.dialer.stop();
      peer.link?.close('closed', 'this node stops');
    }
    this.greeter.close();
    await this.listening?.close();
  }

  /** For the guard: the link may come up. */
  ready(link: Link): void {
    if (link.closed || link.up) return;
    link.up = true;
    this.logger.info('link up', { node: link.peer.node, boot: link.peer.boot });
    for (const listener of this.listeners) listener.up?.(link);
  }

  private open(stream: ByteStream, dialed: boolean): Link {
    return new Link(stream, dialed, this.options.turn, this.limits, this.owner);
  }

  /** What links tell us. */
  private readonly owner: LinkOwner = {
    mayRead: (link) => !link.admitted || this.guard.mayRead(link),
    frame: (link, frame) => (link.admitted ? this.dispatch(link, frame) : this.greeter.frame(link, frame)),
    closed: (link, evidence, reason) => this.lost(link, evidence, reason),
  };

  private dispatch(link: Link, frame: Frame): void {
    const { type } = frame;
    if (!link.up && type >= firstFreeType) return link.close('closed', `frame type ${type} before the link was up`);
    const handler = frame.version > this.options.versions.max ? undefined : this.handlers[type];
    if (handler === undefined) return this.skip(link, frame);
    if (frame.end - frame.start < payloadBytesMin[type]!) throw new FrameError(`a frame of type ${type} is cut short`);
    handler(link, frame);
  }

  /** Nothing depends on frames that only newer nodes know: the cluster does not speak their version. */
  private skip(link: Link, { type, version }: Frame): void {
    if (this.unknownTypes.has(type)) return;
    this.unknownTypes.add(type);
    this.logger.warn('frames of an unknown type are skipped', { type, version, node: link.peer.node });
  }

  /** The peer said hello. Returns why it may not have a link, or ''. */
  private decline(link: Link): string {
    const { node, boot, store } = link.peer;
    const stranger = this.options.stranger(store);
    if (stranger !== '') return stranger;
    const peer = this.peer(node);
    if (boot < peer.boot) return `boot ${boot} of ${node} is older than its boot ${peer.boot}`;
    if (link.dialed || !this.dialsTo(peer)) return '';
    this.probed(peer, link);
    return willCall;
  }

  /** It is there, and knows us: we call it, now, if we have no link. */
  private probed(peer: Peer, link: Link): void {
    const { store, boot, address } = link.peer;
    this.learn(peer, store, boot);
    if (peer.link) return;
    peer.address = address;
    this.call(peer);
    peer.dialer.hurry();
  }

  private admit(link: Link): void {
    const { node, store, boot, address } = link.peer;
    const peer = this.peer(node);
    peer.dialer.stop();
    peer.greeting = false;
    peer.link?.close('replaced', `boot ${boot} of ${node} called again`);
    peer.link = link;
    peer.address = address;
    peer.trouble = '';
    link.admit();
    this.learn(peer, store, boot);
    this.guard.greeted(link);
  }

  private lost(link: Link, evidence: Evidence, reason: string): void {
    const greeting = this.greeter.forget(link);
    if (!link.admitted) return this.notAdmitted(link, greeting, reason);
    const peer = this.peer(link.peer.node);
    if (peer.link === link) peer.link = undefined;
    this.guard.closed(link);
    if (!link.up) {
      this.note(peer.node, reason);
    } else {
      link.up = false;
      this.logger.info('link down', { node: peer.node, boot: link.peer.boot, evidence, reason });
      for (const listener of this.listeners) listener.down?.(link, evidence);
    }
    if (!peer.link && evidence !== 'replaced') this.call(peer);
  }

  /** @param greeting how far it came; undefined: it was declined, or not listened to at all */
  private notAdmitted(link: Link, greeting: Greeting | undefined, reason: string): void {
    const node = greeting?.expected || link.peer.node;
    if (node === '') {
      // Who leaves by itself has seen a nonce: no news.
      if (!link.endedByPeer && !this.stopped) this.strangers.warn({ remote: link.remote, reason });
      return;
    }
    const peer = this.peers.get(node);
    if (peer && greeting) this.note(node, link.endedByPeer ? reason + greeting.whyClosed : reason);
    if (peer && link.dialed) peer.greeting = false;
    if (peer?.member && link.dialed && !peer.link && !this.stopped) peer.dialer.again();
  }

  private learn(peer: Peer, store: string, boot: number): void {
    if (boot <= peer.boot) return;
    peer.boot = boot;
    if (peer.link && peer.link.peer.boot < boot) peer.link.close('replaced', `${peer.node} has a newer boot, ${boot}`);
    for (const listener of this.listeners) listener.known?.(peer.node, store, boot);
  }

  private peer(node: string): Peer {
    let peer = this.peers.get(node);
    if (peer) return peer;
    const dialer = new Dialer(this.options, {
      nextDial: () => ++this.dials,
      connected: (stream) => this.connected(node, stream),
      refused: (dial) => this.refused(node, dial),
      unreachable: (reason) => this.note(node, reason),
    });
    peer = { node, member: false, address: '', boot: 0, link: undefined, dialer, greeting: false, trouble: '' };
    this.peers.set(node, peer);
    return peer;
  }

  private call(peer: Peer): void {
    if (peer.member && !peer.greeting && this.listening && !this.stopped) peer.dialer.start(peer.address);
  }

  private dialsTo(peer: Peer): boolean {
    return this.self.node < peer.node;
  }

  private connected(node: string, stream: ByteStream): void {
    this.peer(node).greeting = true;
    this.greeter.begin(this.open(stream, true), node);
  }

  private refused(node: string, dial: number): void {
    const peer = this.peer(node);
    this.note(node, `nothing listens at ${peer.address}`);
    if (!this.dialsTo(peer)) peer.dialer.stop();
    for (const listener of this.listeners) listener.refused?.(node, dial);
  }

  private note(node: string, reason: string): void {
    const peer = this.peers.get(node);
    if (peer?.trouble === reason || reason === willCall) return;
    if (peer) peer.trouble = reason;
    this.logger.warn('no link', { node, reason });
  }
}

/** What the log says of whoever calls the port for brokers and is none. */
export const turnedAwayText = 'a stranger was turned away from the port for brokers';

/** The answer to a probe: no trouble. */
const willCall = 'the node with the smaller name calls';

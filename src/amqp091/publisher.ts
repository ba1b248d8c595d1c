/**
 * The publishing side of a channel: basic.publish, content header and bodies become one Broker.publish.
 *
 * Nothing is copied on the usual way: method, header and body lie in the read buffer, the views point there and the broker
 * copies from there. Two things break that: a content whose rest has not come when the read buffer is used up (its meta
 * and header are copied aside, `detach`), and a body in several frames: it is gathered or, if it is large, goes on as it comes.
 *
 * The last route is kept with the bytes of exchange and routing key, and found again by comparing those; others are in RouteMemo.
 */
import { immediately, type MessageParts } from '../log/record.js';
import { nobody, type Properties, type Route } from '../model/broker.js';
import { replyQueue } from '../model/replies.js';
import { sameBytes } from '../wire/bytes.js';
import { carbonKeys, hiddenHeaders, shownHeaders } from './carbon-copies.js';
import type { ChannelHost, ConfirmFlush } from './channel-host.js';
import type { ChannelOutput } from './channel-output.js';
import type { ChannelTransaction } from './channel-transaction.js';
import { ContentHeader, MethodId, ProtocolError, PublishView, ReplyCode, RoutingField } from './codec/index.js';
import { ConfirmLedger } from './confirm-ledger.js';
import { propertyText } from './header-codec.js';
import { type HeaderChange, rewriteHeaders } from './header-rewrite.js';
import type { OpenContent } from '../socket/input.js';
import { Pause } from '../socket/input-gate.js';
import { LargePublish, RouteWait } from './large-publish.js';
import { LatePublish } from './late-publish.js';
import { shownParts } from './shown-message.js';

/** What frame must come next. */
const Expect = { method: 0, header: 1, body: 2 } as const;
type Expect = (typeof Expect)[keyof typeof Expect];

/** Two short strings. */
const metaBytesMax = 512;
/** The first buffer for a body in several frames; more is allocated only as it really arrives. */
const firstGatherBytes = 256 * 1024;
/** RabbitMQ's bound of per-message expiration: ten years. */
const expirationMsMax = 315_360_000_000;
const persistentMode = 2;

const nothing = new Uint8Array(0);

export class Publisher implements OpenContent, ConfirmFlush {
  /** Null until tx.select. */
  transaction: ChannelTransaction | null = null;
  /** Null until confirm.select. */
  confirms: ConfirmLedger | null = null;
  private readonly host: ChannelHost;
  private readonly channel: number;
  private readonly out: ChannelOutput;
  private readonly fail: (error: ProtocolError) => void;
  private readonly ownAddress: () => string | undefined;
  /** Own what is published while it is not known where it goes: what is mandatory, and what is not. */
  private late: { mandatory: LatePublish; other: LatePublish } | undefined;
  private isClosed = false;
  private expecting: Expect = Expect.method;
  private readonly method: PublishView = new PublishView();
  private readonly header: ContentHeader = new ContentHeader();
  private gathered: Uint8Array = nothing;
  private received = 0;
  private route: Route | null = null;
  private routeMeta: Uint8Array = nothing;
  private routeMetaLength = 0;
  /** See RouteMemo. */
  private readonly scope: number;
  private holdsInput = false;
  /** What is being sent on as it comes. */
  private large: LargePublish | null = null;
  /** Of a large message it is not known yet where it goes. */
  private routing: RouteWait | null = null;
  private readonly readHeaders = () => shownHeaders(this.header.properties);
  private readonly readProperty: Properties = (name) => propertyText(this.header.properties, name);

  /**
   * @param fail ends the channel with an error that comes later than its publish
   * @param replyAddress where replies to the channel are sent; undefined if it waits for none
   */
  constructor(
    host: ChannelHost,
    channel: number,
    out: ChannelOutput,
    fail: (error: ProtocolError) => void,
    replyAddress: () => string | undefined,
  ) {
    this.host = host;
    this.channel = channel;
    this.out = out;
    this.fail = fail;
    this.scope = host.routes.scope(host.vhost, host.user);
    this.ownAddress = replyAddress;
  }

  /** True between a basic.publish and the end of its body. */
  get inContent(): boolean {
    return this.expecting !== Expect.method;
  }

  selectConfirms(): void {
    this.late = undefined;
    this.confirms ??= new ConfirmLedger(() => this.host.confirmsDue(this));
  }

  /** basic.publish, payload [start, end). */
  onPublish(bytes: Uint8Array, start: number, end: number): void {
    this.method.set(bytes, start, end);
    this.expecting = Expect.header;
    this.attach(bytes);
  }

  onHeader(bytes: Uint8Array, start: number, end: number): void {
    if (this.expecting !== Expect.header) throw this.unexpected('content header');
    const header = this.header.set(bytes, start, end, MethodId.basicPublish);
    const max = this.host.limits.messageBytesMax;
    if (header.bodySize > max) {
      throw new ProtocolError(
        ReplyCode.preconditionFailed,
        `message size ${header.bodySize} is larger than configured max size ${max}`,
        MethodId.basicPublish,
      );
    }
    this.expecting = Expect.body;
    if (header.bodySize === 0) this.finish(nothing, 0);
    else if (header.bodySize > this.host.broker.largeBytes) this.beginLarge();
    else this.attach(bytes);
  }

  onBody(bytes: Uint8Array, start: number, end: number): void {
    if (this.expecting !== Expect.body) throw this.unexpected('content body');
    const length = end - start;
    const size = this.header.bodySize;
    if (this.received === 0 && length === size) {
      this.finish(bytes, start);
      return;
    }
    if (this.received + length > size) {
      const text = `content body of ${this.received + length} bytes or more, its header announced ${size}`;
      throw new ProtocolError(ReplyCode.unexpectedFrame, text, MethodId.basicPublish);
    }
    if (this.large !== null) {
      this.received += length;
      this.large.write(bytes, start, end);
      if (this.received === size) this.finishLarge();
      return;
    }
    this.gather(bytes, start, length);
    if (this.received === size) this.finish(this.gathered, 0);
  }

  /** A method came where a header or a body must. */
  unexpectedMethod(): ProtocolError {
    return this.unexpected('method');
  }

  detach(): void {
    if (this.host.input.openContent === this) this.host.input.openContent = null;
    if (this.expecting === Expect.method) return;
    const { method, header } = this;
    const withHeader = this.expecting === Expect.body;
    const { start, end } = header.properties;
    const headerLength = withHeader ? end - start : 0;
    const own = new Uint8Array(method.metaLength + headerLength);
    own.set(method.bytes.subarray(method.metaStart, method.metaStart + method.metaLength));
    method.bytes = own;
    method.routingKeyAt -= method.metaStart;
    method.metaStart = 0;
    if (!withHeader) return;
    own.set(header.properties.bytes.subarray(start, end), method.metaLength);
    header.properties.set(own, method.metaLength, own.length);
  }

  /** Forgets a content that is half received. */
  abandon(): void {
    this.expecting = Expect.method;
    if (this.host.input.openContent === this) this.host.input.openContent = null;
    this.large?.abort();
    this.large = null;
    this.routing?.end();
    this.routing = null;
    this.dropGathered();
  }

  /** The channel ends: nobody is to be told of what is under way. */
  close(): void {
    this.isClosed = true;
    this.abandon();
    this.releaseInput();
    if (this.confirms) this.host.broker.forgetPublisher(this.confirms);
    this.confirms = null;
    this.transaction?.close();
    this.route = null;
  }

  flushConfirms(): void {
    const { confirms, host } = this;
    if (!confirms) return;
    const before = confirms.outstanding;
    confirms.flush(this.writeAck, this.writeNack);
    host.counters.confirmed += before - confirms.outstanding;
    if (this.holdsInput && confirms.outstanding * 2 < host.limits.unconfirmedMax) this.releaseInput();
  }

  private readonly writeAck = (deliveryTag: number, multiple: boolean): void => {
    this.out.frames.ack(this.channel, deliveryTag, multiple);
  };

  private readonly writeNack = (deliveryTag: number): void => {
    this.out.frames.nack(this.channel, deliveryTag, false, false);
  };

  /** The views now refer to `bytes`. They may go on doing so only while that is the chunk just read. */
  private attach(bytes: Uint8Array): void {
    const { input } = this.host;
    if (bytes !== input.chunk) {
      this.detach();
      return;
    }
    if (input.openContent !== null && input.openContent !== this) input.openContent.detach();
    input.openContent = this;
  }

  /** The content is complete; its body, if any, begins at `bodyStart` of `bodyBytes`. */
  private finish(bodyBytes: Uint8Array, bodyStart: number): void {
    const { host, method, header } = this;
    this.expecting = Expect.method;
    host.input.openContent = null;
    if (!host.publishes) host.beginsToPublish();
    try {
      this.publish(method, header, bodyBytes, bodyStart);
    } finally {
      if (this.gathered !== nothing) this.dropGathered();
      if (this.large !== null) this.endLarge();
    }
  }

  private publish(method: PublishView, header: ContentHeader, bodyBytes: Uint8Array, bodyStart: number): void {
    const { host, confirms } = this;
    const { properties } = header;
    const { parts, broker, counters } = host;
    const { large } = this;
    counters.published++;
    if (method.immediate) throw new ProtocolError(ReplyCode.notImplemented, 'immediate=true', MethodId.basicPublish);
    const route = large === null ? this.presentRoute() : this.largeRoute();
    parts.persistent = properties.deliveryMode === persistentMode;
    parts.priority = properties.priority;
    parts.hidden = false;
    parts.expiresAt = 0;
    if (properties.expirationAt >= 0) parts.expiresAt = this.expiresAt();
    if (properties.userIdAt >= 0) this.checkUserId();
    parts.metaBytes = method.bytes;
    parts.metaStart = method.metaStart;
    parts.metaLength = method.metaLength;
    parts.headerBytes = properties.bytes;
    parts.headerStart = properties.start;
    parts.headerLength = properties.end - properties.start;
    if (properties.routingFields !== 0 || properties.replyToLength === replyQueue.length) this.rewriteHeader(parts);
    parts.bodyBytes = bodyBytes;
    parts.bodyStart = bodyStart;
    parts.bodyLength = header.bodySize;
    if (this.transaction !== null) {
      this.transaction.publish(method, properties, parts);
      if (broker.stops.isAny) host.publishedBy(route, this.channel);
      return;
    }
    if (route.queueCount === 0 && method.mandatory) this.returnToSender(parts);
    const owner = route.isKnown ? (confirms ?? nobody) : this.lateOwner(method.mandatory);
    const parted = (large ?? broker).publish(route, parts, owner, confirms?.nextTag ?? 0);
    if (broker.stops.isAny) host.publishedBy(route, this.channel);
    if (confirms === null) return;
    confirms.opened(parted);
    if (confirms.outstanding >= host.limits.unconfirmedMax) this.holdInput();
  }

  // Large messages

  /** Their headers have come: the rest is sent on as it comes. What cannot be so is gathered. */
  private beginLarge(): void {
    this.detach();
    const { method, header, host } = this;
    if (this.transaction === null && !method.immediate) {
      const route = this.presentRoute();
      if (!route.isKnown) return this.waitForRoute(() => this.beginLarge());
      const isPersistent = header.properties.deliveryMode === persistentMode;
      this.large = LargePublish.begin(host, route, isPersistent, method.mandatory) ?? null;
      if (this.large !== null) return;
    }
    const max = host.limits.gatheredBytesMax;
    if (header.bodySize <= max) return;
    const text = `message size ${header.bodySize} is larger than ${max}, the most for what is returned, part of a transaction, or a reply`;
    throw new ProtocolError(ReplyCode.preconditionFailed, text, MethodId.basicPublish);
  }

  private finishLarge(): void {
    const route = this.largeRoute();
    if (!this.isReady(route)) return this.waitForRoute(() => this.finishLarge());
    if (route.queueCount === 0 && this.method.mandatory) {
      const text = 'NO_ROUTE: the queues of a large message have gone while it came; it cannot be returned';
      throw new ProtocolError(ReplyCode.preconditionFailed, text, MethodId.basicPublish);
    }
    this.finish(nothing, 0);
  }

  private endLarge(): void {
    this.large?.abort();
    this.large = null;
    this.received = 0;
  }

  private waitForRoute(goOn: () => void): void {
    this.routing ??= new RouteWait(this.host, () => {
      try {
        if (!this.isReady(this.largeRoute())) return;
        this.routing?.end();
        this.routing = null;
        goOn();
      } catch (error) {
        this.fail(error as ProtocolError);
      }
    });
  }

  /** It is known where a large message goes and, when all of it has come, its body is there. */
  private isReady(route: Route): boolean {
    return route.isKnown && (this.large === null || this.large.isAt(route));
  }

  /** See LargePublish.route. */
  private largeRoute(): Route {
    const { large } = this;
    if (large === null) return this.presentRoute();
    const isCurrent = large.route.isKnown && large.route.version === this.host.broker.routingVersion;
    if (!isCurrent) large.route = this.presentRoute();
    return large.route;
  }

  private presentRoute(): Route {
    const { route, host } = this;
    const isKept =
      route !== null &&
      route.version === host.broker.routingVersion &&
      this.header.properties.routingFields === 0 &&
      this.sameRoute();
    return isKept ? route : this.findRoute();
  }

  private sameRoute(): boolean {
    const { method } = this;
    if (method.metaLength !== this.routeMetaLength) return false;
    return sameBytes(method.bytes, method.metaStart, this.routeMeta, 0, method.metaLength);
  }

  private findRoute(): Route {
    const { method, host, header } = this;
    const { broker, vhost, routes } = host;
    const { bytes, metaStart, metaLength } = method;
    const isPlain = header.properties.routingFields === 0;
    const known = isPlain ? routes.find(bytes, metaStart, metaLength, this.scope, broker.routingVersion) : undefined;
    if (known !== undefined) return known;
    const isOther = this.routeMetaLength > 0 && !this.sameRoute();
    this.route = null;
    const exchange = method.exchange();
    const routingKey = method.routingKey();
    const hasTopics = host.permissions.requireWrite(exchange);
    const keys = isPlain ? undefined : carbonKeys(header.properties);
    const { readHeaders, readProperty } = this;
    const route = broker.route(vhost, exchange, routingKey, readHeaders, keys, readProperty);
    if (hasTopics && broker.isTopicExchange(vhost, exchange))
      host.permissions.requireTopic('write', exchange, routingKey);
    if (!route.keyed) return route;
    // Most channels have one only.
    if (isOther) routes.add(bytes, metaStart, metaLength, this.scope, route);
    if (this.routeMeta.length === 0) this.routeMeta = new Uint8Array(metaBytesMax);
    this.routeMeta.set(method.bytes.subarray(method.metaStart, method.metaStart + method.metaLength));
    this.routeMetaLength = method.metaLength;
    this.route = route;
    return route;
  }

  private expiresAt(): number {
    const { properties } = this.header;
    const ms = properties.expirationMs ?? Number.NaN;
    if (!(ms <= expirationMsMax)) {
      throw new ProtocolError(
        ReplyCode.preconditionFailed,
        `invalid expiration '${properties.expiration ?? ''}': a whole number of milliseconds up to ${expirationMsMax} is expected`,
        MethodId.basicPublish,
      );
    }
    return ms === 0 ? immediately : this.host.clock.wall() + ms;
  }

  private checkUserId(): void {
    const { user } = this.host;
    const { userId } = this.header.properties;
    if (userId === user || this.host.permissions.mayImpersonate) return;
    throw new ProtocolError(
      ReplyCode.preconditionFailed,
      `user_id property set to '${userId ?? ''}' but authenticated user was '${user}'`,
      MethodId.basicPublish,
    );
  }

  /** BCC is hidden from now on, or gone, if that cannot be; the client's own address stands for its replies. */
  private rewriteHeader(parts: MessageParts): void {
    const { properties } = this.header;
    const hasHidden = (properties.routingFields & RoutingField.bcc) !== 0;
    parts.hidden = hasHidden && this.host.broker.keepsHidden;
    const wantsReplies = properties.replyTo === replyQueue;
    const isKept = !hasHidden || parts.hidden;
    if (isKept && !wantsReplies) return;
    const replyTo = wantsReplies ? this.replyAddress() : undefined;
    const change: HeaderChange = isKept ? { replyTo } : { replyTo, without: hiddenHeaders };
    parts.setHeader(rewriteHeaders(properties, change));
  }

  private replyAddress(): string {
    const address = this.ownAddress();
    if (address !== undefined) return address;
    const text = 'fast reply consumer does not exist';
    throw new ProtocolError(ReplyCode.preconditionFailed, text, MethodId.basicPublish);
  }

  private lateOwner(mandatory: boolean): LatePublish {
    const { confirms } = this;
    this.late ??= {
      mandatory: new LatePublish(confirms, this.returnToSender, this.failLate),
      other: new LatePublish(confirms, undefined, this.failLate),
    };
    return mandatory ? this.late.mandatory : this.late.other;
  }

  readonly returnToSender = (message: MessageParts): void => {
    if (this.isClosed) return;
    const { host } = this;
    host.counters.returned++;
    this.out.frames.returned(this.channel, ReplyCode.noRoute, 'NO_ROUTE', shownParts(message));
    host.output.touch();
  };

  /** What was published after it counts no more, as after any error. */
  private readonly failLate = (error: ProtocolError): void => {
    if (this.isClosed) return;
    const { late, host } = this;
    if (late !== undefined) for (const owner of Object.values(late)) host.broker.forgetPublisher(owner);
    this.fail(error);
  };

  /** Adds a body's frame; the buffer grows with what has arrived, not with what was announced. */
  private gather(bytes: Uint8Array, start: number, length: number): void {
    const needed = this.received + length;
    if (needed > this.gathered.length) {
      const wanted = Math.max(needed, this.gathered.length * 2, firstGatherBytes);
      const grown = Math.min(this.header.bodySize, wanted);
      const { host } = this;
      host.partials.add(host, grown - this.gathered.length);
      const larger = new Uint8Array(grown);
      larger.set(this.gathered.subarray(0, this.received));
      this.gathered = larger;
    }
    this.gathered.set(bytes.subarray(start, start + length), this.received);
    this.received = needed;
  }

  private dropGathered(): void {
    this.host.partials.remove(this.host, this.gathered.length);
    this.gathered = nothing;
    this.received = 0;
  }

  private holdInput(): void {
    if (this.holdsInput) return;
    this.holdsInput = true;
    this.host.logger.debug('too many unconfirmed publishes: not read', { channel: this.channel });
    this.host.input.pause(Pause.confirms);
  }

  private releaseInput(): void {
    if (!this.holdsInput) return;
    this.holdsInput = false;
    this.host.input.unpause(Pause.confirms);
  }

  /** @param came the kind of frame that came (§4.2.6: method, header, bodies, and nothing in between). */
  private unexpected(came: string): ProtocolError {
    const expected = ['method', 'content header', 'content body'][this.expecting]!;
    const text = `expected ${expected}, got ${came} frame instead`;
    return new ProtocolError(ReplyCode.unexpectedFrame, text, this.inContent ? MethodId.basicPublish : 0);
  }
}

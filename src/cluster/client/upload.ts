/**
 * A large message on its way into the groups of its queues: its body is cut into parts as it comes, which each group is sent as publishes
 * into its queue of parts; then the message itself, with a manifest (log/large.ts).
 *
 *   write ─ part ─ part ─ ... ─ publish: the message          a group that it goes to only now: all parts are copied there first
 *
 * What is not safe yet is bounded: `isFull`.
 */
import type { Clock } from '../../base/clock.js';
import { encodeManifest, encodePartHeader, type Manifest } from '../../log/large.js';
import { MessageParts } from '../../log/record.js';
import type { BodySink, BodySource, PublishOwner, Route, Upload, UploadOwner } from '../../model/broker.js';
import { setDelayed } from '../../model/delay/delayed-record.js';
import { partsIncarnation } from '../../model/queue/outbox.js';
import type { ClusterRoute, RouteTarget } from './cluster-route.js';
import type { GroupClient } from './group-client.js';
import type { BudgetedUpload, UploadBudget } from './upload-budget.js';
import { UploadPace, windowBytesMin } from './upload-pace.js';

/** The number of what says that no part follows. */
const endMark = -1;
/** Parts that are asked for ahead of those that have come. */
export const partsAhead = 4;

export interface UploadSettings {
  readonly boot: number;
  readonly partBytes: number;
  readonly budget: UploadBudget;
  readonly clock: Pick<Clock, 'now'>;
  /** So many bytes are published. */
  published(bytes: number): void;
}

/** Where a body goes. */
interface Place {
  readonly client: GroupClient;
  readonly durable: boolean;
  readonly upload: number;
  isUsed: boolean;
}

export class ClusterUpload implements Upload, PublishOwner, BudgetedUpload {
  private readonly settings: UploadSettings;
  private readonly owner: UploadOwner;
  private readonly persistent: boolean;
  private readonly places: Place[] = [];
  private readonly buffer: Uint8Array;
  private readonly pace: UploadPace;
  private readonly part = new MessageParts();
  /** The message, with its manifest. What the caller publishes goes to others as it is. */
  private readonly message = new MessageParts();
  private filled = 0;
  private size = 0;
  private count = 0;
  private unsafe = 0;
  private wasFull = false;
  /** The body is being copied to groups to which the message goes only now. */
  private copying: BodyCopy | undefined;
  /** What was to be copied is gone: this node was taken for dead while it came. */
  private isLost = false;
  private isOver = false;

  constructor(settings: UploadSettings, targets: readonly RouteTarget[], persistent: boolean, owner: UploadOwner) {
    this.settings = settings;
    this.owner = owner;
    this.persistent = persistent;
    this.pace = new UploadPace(settings.clock);
    this.buffer = new Uint8Array(settings.partBytes);
    this.part.persistent = persistent;
    for (const { client, durable } of targets) {
      const isDurable = durable && persistent;
      const known = this.places.findIndex((place) => place.client === client);
      if (known >= 0 && (this.places[known]!.durable || !isDurable)) continue;
      const upload = known >= 0 ? this.places[known]!.upload : client.bodies.newUpload();
      const place = { client, durable: isDurable, upload, isUsed: false };
      if (known >= 0) this.places[known] = place;
      else this.places.push(place);
    }
  }

  get isFull(): boolean {
    const { budget } = this.settings;
    if (this.unsafe <= this.unsafeMax) return false;
    this.wasFull = true;
    if (budget.isTight) budget.await(this);
    return true;
  }

  private get unsafeMax(): number {
    return (this.settings.budget.isTight ? windowBytesMin : this.pace.windowBytes) * this.places.length;
  }

  write(bytes: Uint8Array, start: number, end: number): void {
    const { buffer } = this;
    for (let from = start; from < end; ) {
      const length = Math.min(end - from, buffer.length - this.filled);
      buffer.set(bytes.subarray(from, from + length), this.filled);
      this.filled += length;
      from += length;
      if (this.filled === buffer.length) this.sendPart();
    }
  }

  isAt(route: Route): boolean {
    if (this.filled > 0) this.sendPart();
    const missing = (route as ClusterRoute).targets.filter((target) => this.placeOf(target) === undefined);
    // If it is lost the message is refused.
    if (missing.length === 0 || this.isLost) return true;
    // What is read must be committed.
    if (this.copying === undefined && this.unsafe === 0) this.copy(missing);
    return false;
  }

  publish(route: Route, parts: MessageParts, owner: PublishOwner, tag: number): number {
    const { targets } = route as ClusterRoute;
    const refusing = (route as ClusterRoute).refusing?.client ?? (this.isLost ? this.places[0]!.client : undefined);
    if (refusing !== undefined) refusing.refuse(owner, tag);
    else for (const target of targets) this.publishOne(target, parts, owner, tag);
    this.abort();
    return refusing === undefined ? targets.length : 1;
  }

  /** No message follows, where none was sent. */
  abort(): void {
    this.isOver = true;
    this.settings.budget.forget(this);
    this.copying?.stop();
    for (const place of this.places) {
      if (place.isUsed) continue;
      place.isUsed = true;
      this.part.setHeader(encodePartHeader(place.upload, this.count, true));
      this.part.bodyLength = 0;
      place.client.publish(this.part, [partsIncarnation], place.durable, this, endMark);
      place.client.bodies.uploadEnded(place.upload);
    }
  }

  // ---- PublishOwner: of its parts; their tags are their numbers ----

  completed(part: number): void {
    const bytes = this.bytesOf(part);
    this.pace.safe(part);
    this.unsafe -= bytes;
    this.settings.budget.give(bytes);
    this.relieved();
  }

  relieved(): void {
    if (!this.wasFull || this.unsafe * 2 > this.unsafeMax) return;
    this.wasFull = false;
    this.settings.budget.forget(this);
    this.owner.uploadGoesOn();
  }

  /** Never: nothing is asked of them. */
  refused(part: number): void {
    this.completed(part);
  }

  // ---- inside ----

  /** All parts have the same size, but for the last one. */
  private bytesOf(part: number): number {
    if (part === endMark) return 0;
    const { partBytes } = this.settings;
    return Math.min(partBytes, this.size - part * partBytes);
  }

  private sendPart(): void {
    const { part, filled, buffer, settings } = this;
    const number = this.count++;
    this.size += filled;
    this.filled = 0;
    part.setBody(buffer);
    part.bodyLength = filled;
    this.pace.sent(number);
    for (const { client, durable, upload } of this.places) {
      part.setHeader(encodePartHeader(upload, number));
      this.unsafe += filled;
      settings.budget.take(filled);
      client.publish(part, [partsIncarnation], durable, this, number);
    }
    settings.published(filled * this.places.length);
  }

  private placeOf({ client, durable }: RouteTarget): Place | undefined {
    const place = this.places.find((one) => one.client === client);
    return place !== undefined && (place.durable || !(durable && this.persistent)) ? place : undefined;
  }

  private manifest({ upload }: Place): Manifest {
    const { size, count } = this;
    return { size, count, upload, boot: this.settings.boot };
  }

  /** Each of the targets is among its places. */
  covers(targets: readonly RouteTarget[]): boolean {
    return targets.every((target) => this.placeOf(target) !== undefined);
  }

  private send(target: RouteTarget, place: Place, parts: MessageParts, owner: PublishOwner, tag: number): void {
    const { message } = this;
    place.isUsed = true;
    message.setTo(parts);
    message.large = true;
    message.setBody(encodeManifest(this.manifest(place)));
    publishTo(target, message, owner, tag);
    place.client.bodies.uploadEnded(place.upload);
  }

  private copy(missing: readonly RouteTarget[]): void {
    const { settings, persistent } = this;
    const place = this.places[0]!;
    const source = place.client.bodies.openOwn(this.manifest(place));
    this.copying = new BodyCopy(settings, source, missing, persistent, (copy) => {
      this.copying = undefined;
      if (copy === undefined) {
        this.isLost = true;
        return;
      }
      copy.end();
      // It has the same parts.
      if (this.isOver) copy.abort();
      else this.places.push(...copy.places);
    });
  }

  /** All has been written. */
  private end(): void {
    if (this.filled > 0) this.sendPart();
  }

  /** The message goes to a target that is among its places. When it has gone to all, `abort` must follow. */
  publishOne(target: RouteTarget, parts: MessageParts, owner: PublishOwner, tag: number): void {
    this.end();
    this.send(target, this.placeOf(target)!, parts, owner, tag);
  }
}

/** Copies a body, part by part, to other groups. */
export class BodyCopy implements BodySink, UploadOwner {
  private readonly source: BodySource;
  private readonly done: (copy: ClusterUpload | undefined) => void;
  private readonly upload: ClusterUpload;
  /** Parts that have come and were not asked for again, since the way is full. */
  private owed = 0;

  /** @param done called once: with the upload that has all of the body, or undefined if the source is lost */
  constructor(
    settings: UploadSettings,
    source: BodySource,
    targets: readonly RouteTarget[],
    persistent: boolean,
    done: (copy: ClusterUpload | undefined) => void,
  ) {
    this.source = source;
    this.done = done;
    this.upload = new ClusterUpload(settings, targets, persistent, this);
    source.read(this, partsAhead);
  }

  /** Nobody wants it any more. */
  stop(): void {
    this.source.close();
    this.upload.abort();
  }

  part(bytes: Uint8Array, start: number, end: number, isLast: boolean): void {
    this.upload.write(bytes, start, end);
    if (isLast) this.done(this.upload);
    else if (this.upload.isFull) this.owed++;
    else this.source.more();
  }

  lost(): void {
    this.upload.abort();
    this.done(undefined);
  }

  uploadGoesOn(): void {
    for (; this.owed > 0; this.owed--) this.source.more();
  }
}

const delayed = new MessageParts();

/** Publishes a message to one target of its route. */
export function publishTo(target: RouteTarget, parts: MessageParts, owner: PublishOwner, tag: number): void {
  const { client, incarnations, durable, gate, delay } = target;
  let sent = parts;
  if (delay !== undefined) {
    setDelayed(delayed, parts, delay.delayMs, delay.exchange.vhost, delay.exchange.name);
    sent = delayed;
  }
  client.publish(sent, incarnations, durable && parts.persistent, owner, tag, gate);
}

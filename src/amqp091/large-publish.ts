/**
 * A large message as its client sends it: its body goes on to where the message goes as it comes, and is never here as a whole. While too
 * much is on its way, or it is not known where the message goes, its connection is not read.
 *
 * What goes nowhere is read and forgotten.
 */
import type { Timer } from '../base/clock.js';
import type { PublishOwner, Route, Upload, UploadOwner } from '../model/broker.js';
import type { MessageParts } from '../log/record.js';
import type { ChannelHost } from './channel-host.js';
import { Pause } from '../socket/input-gate.js';

/** It is asked so often whether it is known by now where a message goes. */
const routeMs = 5;

export class LargePublish implements UploadOwner {
  /** By which it goes while that is current: an exchange that draws lots would say something else when it is asked again. */
  route: Route;
  private readonly host: ChannelHost;
  /** Null: it goes nowhere. */
  private readonly upload: Upload | null;
  private holdsInput = false;
  private isOver = false;

  /** Undefined: it must be gathered. Throws ProtocolError if the connection sends too many at a time. */
  static begin(host: ChannelHost, route: Route, persistent: boolean, mandatory: boolean): LargePublish | undefined {
    const owner = { uploadGoesOn: (): void => {} };
    const upload = host.broker.upload(route, persistent, owner);
    if (upload === undefined || (upload === null && mandatory)) return undefined;
    if (upload === null) return new LargePublish(host, route, null);
    try {
      host.partials.beginUpload(host);
    } catch (error) {
      upload.abort();
      throw error;
    }
    const publish = new LargePublish(host, route, upload);
    owner.uploadGoesOn = () => publish.uploadGoesOn();
    return publish;
  }

  private constructor(host: ChannelHost, route: Route, upload: Upload | null) {
    this.host = host;
    this.route = route;
    this.upload = upload;
  }

  write(bytes: Uint8Array, start: number, end: number): void {
    this.upload?.write(bytes, start, end);
    if (this.upload?.isFull === true) this.hold();
  }

  uploadGoesOn(): void {
    this.release();
  }

  /** All has come. See Upload. */
  isAt(route: Route): boolean {
    return this.upload?.isAt(route) ?? true;
  }

  publish(route: Route, parts: MessageParts, owner: PublishOwner, tag: number): number {
    this.end();
    return this.upload?.publish(route, parts, owner, tag) ?? 0;
  }

  /** The rest never comes. */
  abort(): void {
    if (this.isOver) return;
    this.end();
    this.upload?.abort();
  }

  private end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.release();
    if (this.upload !== null) this.host.partials.endUpload(this.host);
  }

  private hold(): void {
    if (this.holdsInput) return;
    this.holdsInput = true;
    this.host.input.pause(Pause.upload);
  }

  private release(): void {
    if (!this.holdsInput) return;
    this.holdsInput = false;
    this.host.input.unpause(Pause.upload);
  }
}

/** The connection is not read until it is known where a message goes. */
export class RouteWait {
  private readonly host: ChannelHost;
  private readonly timer: Timer;

  constructor(host: ChannelHost, look: () => void) {
    this.host = host;
    host.input.pause(Pause.upload);
    this.timer = host.clock.every(routeMs, look);
  }

  end(): void {
    this.timer.cancel();
    this.host.input.unpause(Pause.upload);
  }
}

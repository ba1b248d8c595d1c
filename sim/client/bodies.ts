/** Large messages of a simulated client, whose bodies come in pieces, as from a socket; a channel sends, and is given, one after the other. */
import { EnqueueView, encodeEnqueue, enqueueLength, MessageParts } from '../../src/log/record.js';
import type { BodySink, BodySource, Broker, Holder, Route, Upload } from '../../src/model/broker.js';
import type { SimRandom } from '../random.js';

/** Runs something a little later, if the node is alive. */
export type Later = (delayMs: number, run: () => void) => void;

const pieceMax = 3000;

/** A body on its way to the broker. */
export class SendingBody {
  private readonly body: Uint8Array;
  private readonly random: SimRandom;
  private readonly later: Later;
  private readonly done: (upload: Upload) => void;
  private readonly upload: Upload;
  private sent = 0;
  private isOver = false;

  /** Undefined: it is not sent in pieces. */
  static begin(
    broker: Broker,
    route: Route,
    parts: MessageParts,
    random: SimRandom,
    later: Later,
    done: (upload: Upload) => void,
  ): SendingBody | undefined {
    if (parts.bodyLength <= broker.largeBytes || !route.isKnown || route.queueCount === 0) return undefined;
    const owner = { uploadGoesOn: (): void => sending?.go() };
    const upload = broker.upload(route, parts.persistent, owner);
    if (upload === undefined || upload === null) return undefined;
    const body = parts.bodyBytes.slice(parts.bodyStart, parts.bodyStart + parts.bodyLength);
    const sending: SendingBody | undefined = new SendingBody(body, upload, random, later, done);
    sending.go();
    return sending;
  }

  private constructor(
    body: Uint8Array,
    upload: Upload,
    random: SimRandom,
    later: Later,
    done: (upload: Upload) => void,
  ) {
    this.body = body;
    this.upload = upload;
    this.random = random;
    this.later = later;
    this.done = done;
  }

  /** The connection is gone. */
  abort(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.upload.abort();
  }

  private go(): void {
    while (!this.isOver && !this.upload.isFull) {
      if (this.sent === this.body.length) {
        this.isOver = true;
        // Not from within `begin`.
        this.later(0, () => this.done(this.upload));
        return;
      }
      const end = Math.min(this.body.length, this.sent + 1 + this.random.int(pieceMax));
      this.upload.write(this.body, this.sent, end);
      this.sent = end;
      if (!this.random.chance(0.3)) continue;
      const pause = this.random.chance(0.015) ? this.random.between(300, 3000) : this.random.between(0.1, 3);
      this.later(pause, () => this.go());
      return;
    }
  }
}

/** A message whose body comes, or that came behind such a one. */
interface Arrival {
  readonly record: Uint8Array;
  readonly source: BodySource | undefined;
  readonly body: Uint8Array;
  received: number;
  readonly whole: (message: EnqueueView) => void;
}

/** Messages on their way to the client: a body is given out whole, and what comes behind it waits. */
export class ArrivingBodies implements BodySink {
  private readonly broker: Broker;
  private readonly later: Later;
  private readonly random: SimRandom;
  private readonly cut: (reason: string) => void;
  private readonly arrivals: Arrival[] = [];

  constructor(broker: Broker, random: SimRandom, later: Later, cut: (reason: string) => void) {
    this.broker = broker;
    this.random = random;
    this.later = later;
    this.cut = cut;
  }

  get isEmpty(): boolean {
    return this.arrivals.length === 0;
  }

  /** Calls `whole` when the message is there. */
  add(holder: Holder, message: EnqueueView, whole: (message: EnqueueView) => void): void {
    const source = message.isLarge ? this.broker.body(holder, message) : undefined;
    const record = message.bytes.slice(message.start, message.start + message.length);
    const body = new Uint8Array(source?.size ?? 0);
    this.arrivals.push({ record, source, body, received: 0, whole });
    if (this.arrivals.length === 1) this.next();
  }

  close(): void {
    for (const { source } of this.arrivals) source?.close();
    this.arrivals.length = 0;
  }

  part(bytes: Uint8Array, start: number, end: number, isLast: boolean): void {
    const arrival = this.arrivals[0]!;
    arrival.body.set(bytes.subarray(start, end), arrival.received);
    arrival.received += end - start;
    if (isLast) {
      this.arrivals.shift();
      arrival.whole(wholeOf(arrival));
      this.next();
    } else if (this.random.chance(0.7)) arrival.source!.more();
    else this.later(this.random.between(0.1, 10), () => arrival.source!.more());
  }

  lost(reason: string): void {
    this.cut(reason);
  }

  private next(): void {
    for (let first = this.arrivals[0]; first !== undefined; first = this.arrivals[0]) {
      if (first.source !== undefined) return first.source.read(this, 1 + this.random.int(3));
      this.arrivals.shift();
      first.whole(wholeOf(first));
    }
  }
}

/** The message with its body in it. */
function wholeOf({ record, source, body }: Arrival): EnqueueView {
  const message = new EnqueueView().set(record, new DataView(record.buffer), 0);
  if (source === undefined) return message;
  const parts = new MessageParts();
  parts.setFrom(message);
  parts.large = false;
  parts.origin = undefined;
  parts.setBody(body);
  const bytes = new Uint8Array(enqueueLength(parts, 0));
  const view = new DataView(bytes.buffer);
  encodeEnqueue(bytes, view, 0, parts, [], false, 0, 0);
  return new EnqueueView().set(bytes, view, 0);
}

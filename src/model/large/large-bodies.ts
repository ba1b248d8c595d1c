/**
 * The bodies of a group's large messages on one replica: which parts each has, and which messages refer to it. Kept from the records as
 * they come, be it from clients, in a join or in recovery, in any order.
 *
 *   open ──a message refers to it──▶ in use ──the last such message is gone──▶ orphan ──its parts are dequeued──▶ forgotten
 *     └──────────────its upload is given up: its parts are dequeued──────────────────────────────────────────────────┘
 *
 * It takes no part out by itself: the primary dequeues those of orphans, and of uploads that are over, by records. After a restart of all
 * replicas an orphan is taken for an upload that is open still, and goes with its boot.
 */
import type { Chunk } from '../../log/chunk.js';
import { type BodyId, isPart, type Manifest, manifestOf, partHeaderAt } from '../../log/large.js';
import type { Lsn } from '../../log/lsn.js';
import { bodyLength, metaAt } from '../../log/record.js';

export class LargeBody implements BodyId {
  readonly boot: number;
  readonly upload: number;
  /** Positions of its parts by index; 0 where one is not there. */
  readonly parts: Lsn[] = [];
  /** Parts that are there, and their bytes. */
  count = 0;
  bytes = 0;
  /** Messages that refer to it. */
  messages = 0;
  /** One has, so that its upload has ended. */
  isClosed = false;
  durable = false;
  /** They leave in order, mostly: where the next one is. */
  private next = 0;

  constructor({ boot, upload }: BodyId) {
    this.boot = boot;
    this.upload = upload;
  }

  /** The part at `position` is gone. */
  partLeft(position: Lsn): void {
    const index = this.parts[this.next] === position ? this.next : this.parts.indexOf(position);
    this.parts[index] = 0;
    this.next = index + 1;
    this.count--;
  }

  /** Positions of the parts that are there, ascending. */
  positions(): Float64Array {
    return Float64Array.from(this.parts.filter((position) => position > 0)).sort();
  }

  /** Nobody needs it any more. */
  get isOrphan(): boolean {
    return this.isClosed && this.messages === 0;
  }

  /** All of it is there. */
  fits({ count, size }: Manifest): boolean {
    return this.count === count && this.bytes === size;
  }
}

export function keyOf({ boot, upload }: BodyId): string {
  return `${boot}/${upload}`;
}

/** A large message, in so many queues. */
interface LargeMessage {
  readonly body: LargeBody;
  queues: number;
}

export class LargeBodies {
  /** Told when a body has become an orphan. */
  watcher: { orphaned(body: LargeBody): void } | undefined = undefined;
  /** Large messages and parts that are here; 0: nothing is to be told of. */
  size = 0;
  private readonly bodies = new Map<string, LargeBody>();
  private readonly messages = new Map<Lsn, LargeMessage>();
  private readonly parts = new Map<Lsn, LargeBody>();

  find(id: BodyId): LargeBody | undefined {
    return this.bodies.get(keyOf(id));
  }

  all(): Iterable<LargeBody> {
    return this.bodies.values();
  }

  /** A part was put into the queue of parts: the enqueue record at `offset` of `chunk`, which is resident. */
  partCame(position: Lsn, chunk: Chunk, offset: number, durable: boolean): void {
    const view = chunk.view!;
    if (!isPart(view, offset)) return;
    const { upload, index } = partHeaderAt(view, metaAt(view, offset));
    const body = this.body({ boot: view.getUint32(offset + 16, true), upload });
    while (body.parts.length < index) body.parts.push(0);
    body.parts[index] = position;
    body.count++;
    body.bytes += bodyLength(view, offset);
    body.durable ||= durable;
    this.parts.set(position, body);
    this.size++;
  }

  /** A large message was put into a queue. */
  messageCame(position: Lsn, chunk: Chunk, offset: number): void {
    const known = this.messages.get(position);
    if (known !== undefined) {
      known.queues++;
      return;
    }
    const body = this.body(manifestOf(chunk.view!, offset));
    body.messages++;
    body.isClosed = true;
    this.messages.set(position, { body, queues: 1 });
    this.size++;
  }

  /** Whatever is at `position` has left a queue. */
  left(position: Lsn): void {
    const message = this.messages.get(position);
    if (message !== undefined) this.messageLeft(position, message);
    else this.partLeft(position);
  }

  private messageLeft(position: Lsn, message: LargeMessage): void {
    if (--message.queues > 0) return;
    const { body } = message;
    this.messages.delete(position);
    this.size--;
    body.messages--;
    if (!this.forgetIfGone(body) && body.isOrphan) this.watcher?.orphaned(body);
  }

  private partLeft(position: Lsn): void {
    const body = this.parts.get(position);
    if (body === undefined) return;
    this.parts.delete(position);
    this.size--;
    body.partLeft(position);
    this.forgetIfGone(body);
  }

  private forgetIfGone(body: LargeBody): boolean {
    if (body.count > 0 || body.messages > 0) return false;
    this.bodies.delete(keyOf(body));
    return true;
  }

  private body(id: BodyId): LargeBody {
    const key = keyOf(id);
    let body = this.bodies.get(key);
    if (body === undefined) {
      body = new LargeBody(id);
      this.bodies.set(key, body);
    }
    return body;
  }
}

/**
 * Every node's way to the wiring's primary: says operations to whoever leads the system group until one answers, and resolves
 * when this node's own tables contain the outcome. All operations may be said again (see operations.ts), so a lost link or a
 * new primary only costs time.
 */
import type { Clock, Timer } from '../../base/clock.js';
import { Refusal, RefusedError } from '../../base/errors.js';
import type { Lsn } from '../../log/lsn.js';
import {
  decodeAnswer,
  encodeOperation,
  type WiringAnswer,
  type WiringDone,
  type WiringOperation,
} from '../../model/wiring/operations.js';
import type { WiringTables } from '../../model/wiring/tables.js';
import type { GroupDirectory } from '../client/ports.js';
import { type Frame, FrameError } from '../link/frame.js';
import { FrameType } from '../link/frame-types.js';
import type { Link } from '../link/link.js';
import type { Links } from '../link/links.js';
import { systemGroup } from '../map.js';
import type { WiringServer } from './wiring-server.js';

export interface WiringClientOptions {
  node: string;
  tables: WiringTables;
  /** Tells when `tables` have reached a new version. */
  feed: { onVersion(listener: () => void): void };
  directory: GroupDirectory;
  /** This node's own server, for when it leads the system group itself. */
  server: Pick<WiringServer, 'submit'>;
  links: Links | undefined;
  clock: Clock;
}

/** Operations of this node that are not complete, at most. */
export const wiringPendingMax = 50_000;
export const wiringTimeoutMs = 30_000;
const retryMs = 20;
const sweepMs = 1000;

interface Pending {
  readonly operation: WiringOperation;
  readonly deadline: number;
  /** Asked each time before it is said. */
  readonly isWanted: () => boolean;
  /** The link, or the epoch of our own lead, to which it was said and where an answer may still come from. */
  saidTo: Link | number | undefined;
  /** Once answered: what our own tables must contain. */
  done: WiringDone | undefined;
  resolve(done: WiringDone): void;
  reject(error: Error): void;
}

export class WiringClient {
  private readonly options: WiringClientOptions;
  /** By request number, in order of asking. */
  private readonly pending = new Map<number, Pending>();
  private lastNumber = 0;
  private retry: Timer | undefined;
  private readonly sweeper: Timer;
  private closed = false;

  constructor(options: WiringClientOptions) {
    this.options = options;
    options.feed.onVersion(() => this.advanced());
    options.directory.onChange((group) => {
      if (group === systemGroup) this.sayAll();
    });
    options.links?.observe({ up: () => this.sayAll() });
    options.links?.handle(FrameType.wiringAnswer, (_link, frame) => this.answerFrame(frame));
    this.sweeper = options.clock.every(sweepMs, () => this.sweep());
  }

  /**
   * Resolves when every ready node, this one included, has the outcome.
   * Rejects with RefusedError: the refusal of the operation; internal-error if nobody answered in `timeoutMs`, when it may or
   * may not have been done, or if it is not wanted any more; resource-error if too many are waiting.
   * @param isWanted asked each time before the operation is said: while it waits for a primary it may become wrong.
   */
  run(
    operation: WiringOperation,
    timeoutMs: number = wiringTimeoutMs,
    isWanted: () => boolean = always,
  ): Promise<WiringDone> {
    if (this.closed) return Promise.reject(new RefusedError(Refusal.internalError, 'this node stops'));
    if (this.pending.size >= wiringPendingMax) {
      const text = `${wiringPendingMax} changes of queues, exchanges and bindings are waiting already; try again later`;
      return Promise.reject(new RefusedError(Refusal.resourceError, text));
    }
    return new Promise((resolve, reject) => {
      const number = ++this.lastNumber;
      const deadline = this.options.clock.now() + timeoutMs;
      const notYet = { saidTo: undefined, done: undefined };
      const pending: Pending = { operation, deadline, isWanted, ...notYet, resolve, reject };
      this.pending.set(number, pending);
      this.say(number, pending);
    });
  }

  close(): void {
    this.closed = true;
    this.retry?.cancel();
    this.sweeper.cancel();
    const pending = [...this.pending.values()];
    this.pending.clear();
    for (const one of pending) one.reject(new RefusedError(Refusal.internalError, 'this node stops'));
  }

  private sayAll(): void {
    for (const [number, pending] of this.pending) if (pending.done === undefined) this.say(number, pending);
  }

  /**
   * Says it to the present primary, if that can be reached and was not told yet; else a change of primary or link brings us here
   * again.
   */
  private say(number: number, pending: Pending): void {
    const { operation } = pending;
    const { directory, node, server, links } = this.options;
    const leadership = directory.leadership(systemGroup);
    if (leadership === undefined) return;
    if (leadership.node === node) {
      if (pending.saidTo === leadership.epoch || this.isWithdrawn(number, pending)) return;
      pending.saidTo = leadership.epoch;
      server.submit(operation, (answer) => this.answered(number, answer));
      return;
    }
    const link = links?.get(leadership.node);
    if (link === undefined || pending.saidTo === link || this.isWithdrawn(number, pending)) return;
    pending.saidTo = link;
    let json: Uint8Array;
    try {
      json = encodeOperation(operation);
    } catch (error) {
      this.take(number)?.reject(error as Error);
      return;
    }
    const out = link.beginFrame(FrameType.wiringRequest, systemGroup, 4 + json.length);
    out.view.setUint32(out.offset, number, true);
    out.bytes.set(json, out.offset + 4);
  }

  /** If nobody wants it any more, it is not said. */
  private isWithdrawn(number: number, pending: Pending): boolean {
    if (pending.isWanted()) return false;
    this.take(number)?.reject(new RefusedError(Refusal.internalError, 'it is not wanted any more'));
    return true;
  }

  private answerFrame(frame: Frame): void {
    const number = frame.view.getUint32(frame.start, true);
    let answer: WiringAnswer;
    try {
      answer = decodeAnswer(frame.bytes.subarray(frame.start + 4, frame.end));
    } catch (error) {
      throw new FrameError(`a wiring answer cannot be read: ${(error as Error).message}`);
    }
    this.answered(number, answer);
  }

  private answered(number: number, answer: WiringAnswer): void {
    const pending = this.pending.get(number);
    if (pending === undefined || pending.done !== undefined) return;
    switch (answer.result) {
      case 'done':
        pending.done = answer;
        this.complete(number, pending, this.options.tables.version);
        break;
      case 'refused':
        this.pending.delete(number);
        pending.reject(new RefusedError(answer.kind, answer.text));
        break;
      case 'retry':
        pending.saidTo = undefined;
        this.retry ??= this.options.clock.after(retryMs, () => {
          this.retry = undefined;
          this.sayAll();
        });
        break;
    }
  }

  /** Our own tables contain more. */
  private advanced(): void {
    const version = this.options.tables.version;
    for (const [number, pending] of this.pending) this.complete(number, pending, version);
  }

  private complete(number: number, pending: Pending, version: Lsn): void {
    const done = pending.done;
    if (done === undefined || version < done.version) return;
    this.pending.delete(number);
    pending.resolve(done);
  }

  private sweep(): void {
    const now = this.options.clock.now();
    for (const [number, { operation, deadline }] of this.pending) {
      if (now < deadline) continue;
      const text =
        `${operation.op} was not answered in time by the primary of the system group, and may have been done or not; ` +
        "see 'understudy status', then try again";
      this.take(number)?.reject(new RefusedError(Refusal.internalError, text));
    }
  }

  private take(number: number): Pending | undefined {
    const pending = this.pending.get(number);
    this.pending.delete(number);
    return pending;
  }
}

function always(): boolean {
  return true;
}

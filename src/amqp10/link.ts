import { type AmqpError, Attach, Condition, Detach } from './codec/index.js';
import type { SessionHost } from './session-host.js';

export const LinkState = {
  /** The broker is asked; our attach is not out. */
  attaching: 'attaching',
  attached: 'attached',
  /** Our detach is out; until the client's comes its handle is taken, and what comes on it counts for nothing. */
  detached: 'detached',
  gone: 'gone',
} as const;
export type LinkState = (typeof LinkState)[keyof typeof LinkState];

/**
 * One end of a link (§2.6), seen from the broker: what both directions have in common.
 *
 *   attaching ──► attached ──client's detach──► gone
 *       └─refused─┐   └──error: our detach──► detached ──client's detach──► gone
 *                 └──► attach without terminus, detach ──► detached
 */
export abstract class Link {
  readonly name: string;
  /** The client's handle, and ours. */
  readonly handle: number;
  readonly ownHandle: number;
  state: LinkState = LinkState.attaching;
  protected readonly host: SessionHost;
  protected readonly request: Attach;
  /** The client has closed it, or nothing is left to resume (§2.6.4); else a link that can be resumed is only suspended. */
  protected isForGood = false;
  /** The client detached it before it was attached. */
  private detachRequested = false;

  constructor(host: SessionHost, request: Attach, ownHandle: number) {
    this.host = host;
    this.request = request;
    this.name = request.name;
    this.handle = request.handle;
    this.ownHandle = ownHandle;
  }

  /** True: the client receives. */
  get toClient(): boolean {
    return this.request.role;
  }

  /** Names of links are unique in each direction. */
  get key(): string {
    return `${this.toClient ? '>' : '<'}${this.name}`;
  }

  /** The client detaches. @param closed for good */
  detachedByClient(closed: boolean): void {
    this.isForGood = closed;
    if (this.state === LinkState.attaching) {
      this.detachRequested = true;
      return;
    }
    const answers = this.state === LinkState.attached;
    if (answers) this.release();
    this.leave();
    if (answers) this.sendDetach(undefined);
  }

  /** Ends the link with an error, from whatever state. */
  fail(error: AmqpError): void {
    if (this.state === LinkState.detached || this.state === LinkState.gone) return;
    this.host.counters.linkErrors++;
    this.host.logger.info('link ended with an error', {
      link: this.name,
      condition: error.condition,
      error: error.message,
    });
    // Of a queue that is gone nothing can be resumed.
    this.isForGood = error.condition === Condition.resourceDeleted;
    if (this.state === LinkState.attaching) this.sendAttach(this.refusal());
    else this.release();
    this.sendDetach(error);
    this.state = LinkState.detached;
    if (this.detachRequested) this.leave();
  }

  /** Session or connection are gone or going: no more output. */
  dispose(): void {
    if (this.state === LinkState.gone) return;
    if (this.state !== LinkState.detached) this.release();
    this.state = LinkState.gone;
  }

  /** The broker's answer has come: the link is attached, unless that came too late. @returns false if it did */
  protected attachedWith(reply: Attach): boolean {
    if (this.state !== LinkState.attaching) return false;
    this.state = LinkState.attached;
    this.sendAttach(reply);
    if (!this.detachRequested) return true;
    this.detachedByClient(this.isForGood);
    return false;
  }

  /** Our attach, as far as it answers the client's. */
  protected reply(): Attach {
    const reply = new Attach();
    reply.name = this.name;
    reply.handle = this.ownHandle;
    reply.role = !this.request.role;
    reply.sndSettleMode = this.request.sndSettleMode;
    reply.rcvSettleMode = this.request.rcvSettleMode;
    reply.source = this.request.source;
    reply.target = this.request.target;
    return reply;
  }

  /** The session, the output or the client takes more: of links on which the client receives. */
  replenish(): void {}

  /** What it is about, or what is unsettled of it, outlasts this attachment of the link. */
  protected get canResume(): boolean {
    return false;
  }

  /** What the link holds of the broker goes back. */
  protected abstract release(): void;

  /** The attach of a link that will not be: without the terminus that was asked for (§2.6.3). */
  private refusal(): Attach {
    const reply = this.reply();
    if (this.toClient) {
      reply.source = undefined;
      reply.initialDeliveryCount = 0;
    } else reply.target = undefined;
    return reply;
  }

  private sendAttach(reply: Attach): void {
    this.host.send(reply);
  }

  private sendDetach(error: AmqpError | undefined): void {
    const detach = new Detach();
    detach.handle = this.ownHandle;
    detach.closed = this.isForGood || !this.canResume;
    detach.error = error?.fields;
    this.host.send(detach);
  }

  private leave(): void {
    this.state = LinkState.gone;
    this.host.linkGone(this);
  }
}

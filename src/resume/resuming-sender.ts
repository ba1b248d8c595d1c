/**
 * A sender that resumes its link: each message is in the queue exactly once, whatever becomes of connections and nodes, as long as this program
 * lives and the link is not away for longer than its timeout.
 *
 * What was sent and has no outcome is kept; when the link is attached again, the broker says which of it is there, and the rest is sent
 * once more, in order.
 */
import { LinkLife, type ResumeOptions, terminusOf } from './link-life.js';
import {
  type RheaConnection,
  type RheaContainer,
  type RheaContext,
  type RheaSender,
  sayUnsettled,
  textOfTag,
} from './rhea.js';

export type SendOutcome = 'accepted' | 'rejected' | 'released' | 'modified';
const outcomes: readonly SendOutcome[] = ['accepted', 'rejected', 'released', 'modified'];

interface Pending {
  readonly tag: string;
  readonly message: unknown;
  readonly settle: (outcome: SendOutcome) => void;
}

export class ResumingSender {
  private readonly container: RheaContainer;
  private readonly options: ResumeOptions;
  private readonly life: LinkLife;
  private link: RheaSender | undefined;
  private lastTag = 0;
  /** Without outcome, by tag, in the order of `send`. */
  private readonly pending = new Map<string, Pending>();
  /** Not sent on the present link. */
  private unsent: Pending[] = [];
  private closed: (() => void) | undefined;

  constructor(container: RheaContainer, options: ResumeOptions) {
    this.container = container;
    this.options = options;
    const lost = (): void => {
      this.link = undefined;
    };
    this.life = new LinkLife(container, options, (connection) => this.attach(connection), lost);
  }

  /** Messages without outcome. */
  get unsettled(): number {
    return this.pending.size;
  }

  /** Resolves with the outcome, which is final. */
  send(message: unknown): Promise<SendOutcome> {
    return new Promise((settle) => {
      const pending = { tag: String(++this.lastTag), message, settle };
      this.pending.set(pending.tag, pending);
      this.unsent.push(pending);
      this.goOn();
    });
  }

  /** Resolves when all that was sent has an outcome; the broker forgets the link then. */
  async close(): Promise<void> {
    if (this.pending.size > 0)
      await new Promise<void>((resolve) => {
        this.closed = resolve;
      });
    this.life.close(true);
  }

  private attach(connection: RheaConnection): RheaSender {
    const { name } = this.options;
    const link = connection.open_sender({
      name,
      target: terminusOf(this.options),
      snd_settle_mode: 0,
      rcv_settle_mode: 1,
      autosettle: false,
    });
    sayUnsettled(
      this.container,
      link,
      [...this.pending.keys()].map((tag) => [tag, null] as const),
    );
    link.on('sender_open', () => this.attached(link));
    link.on('sendable', () => this.goOn());
    for (const outcome of outcomes) link.on(outcome, (context) => this.told(outcome, context));
    return link;
  }

  /** What the broker has it need not be sent; that it is settled the broker hears with the next attach. */
  private attached(link: RheaSender): void {
    this.link = link;
    for (const tag of Object.keys(link.remote.attach?.unsettled ?? {})) this.settle(tag, 'accepted');
    this.unsent = [...this.pending.values()];
    this.goOn();
  }

  private goOn(): void {
    const { link } = this;
    while (link !== undefined && this.unsent.length > 0 && link.sendable()) {
      const { tag, message } = this.unsent.shift()!;
      if (this.pending.has(tag)) link.send(message, Buffer.from(tag, 'latin1'));
    }
  }

  private told(outcome: SendOutcome, { delivery }: RheaContext): void {
    if (delivery === undefined) return;
    delivery.update(true);
    // We settle last, and nobody answers: rhea keeps, and has room for, 2,048 deliveries whose other end has not settled.
    delivery.remote_settled = true;
    this.settle(textOfTag(delivery.tag), outcome);
  }

  private settle(tag: string, outcome: SendOutcome): void {
    const pending = this.pending.get(tag);
    this.pending.delete(tag);
    pending?.settle(outcome);
    if (this.pending.size === 0) this.closed?.();
  }
}

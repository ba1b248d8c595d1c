/**
 * A receiver that resumes its link: each message is given to the program exactly once, whatever becomes of connections and nodes, as long as
 * this program lives and the link is not away for longer than its timeout.
 *
 * What was received and is not known to be settled is kept by its tag. When the link is attached again the broker is told of it: what was
 * decided is settled by that, what is still being worked on is resumed and not given to the program a second time.
 */
import { LinkLife, type ResumeOptions, terminusOf } from './link-life.js';
import {
  type RheaConnection,
  type RheaContainer,
  type RheaContext,
  type RheaDelivery,
  type RheaLink,
  sayUnsettled,
  textOfTag,
} from './rhea.js';

export interface ReceiverOptions extends ResumeOptions {
  /** Deliveries that the program is given without having settled them; default: 100. */
  readonly window?: number;
}

type Decision = 'accept' | 'release' | 'reject';

/** A message that has come. What is said of it is done when the promise resolves; it rejects if the link was away for too long. */
export interface ResumedDelivery {
  readonly message: unknown;
  /** The broker's name for the message, the same whenever it comes on this link. */
  readonly tag: string;
  accept(): Promise<void>;
  release(): Promise<void>;
  reject(): Promise<void>;
}

class Held {
  delivery: RheaDelivery | undefined;
  decision: Decision | undefined;
  resolve: () => void = () => {};
  reject: (error: Error) => void = () => {};

  constructor(delivery: RheaDelivery) {
    this.delivery = delivery;
  }
}

export class ResumingReceiver {
  private readonly container: RheaContainer;
  private readonly options: ReceiverOptions;
  private readonly life: LinkLife;
  private readonly onMessage: (delivery: ResumedDelivery) => void;
  /** By tag. */
  private readonly held = new Map<string, Held>();

  constructor(container: RheaContainer, options: ReceiverOptions, onMessage: (delivery: ResumedDelivery) => void) {
    this.container = container;
    this.options = options;
    this.onMessage = onMessage;
    const lost = (): void => {
      for (const held of this.held.values()) held.delivery = undefined;
    };
    this.life = new LinkLife(container, options, (connection) => this.attach(connection), lost);
  }

  /** Deliveries that are not known to be settled. */
  get unsettled(): number {
    return this.held.size;
  }

  /** The broker forgets the link: what is not settled goes back to its queue. */
  close(): void {
    this.life.close(true);
  }

  private attach(connection: RheaConnection): RheaLink {
    const { name, window = 100 } = this.options;
    const link = connection.open_receiver({
      name,
      source: terminusOf(this.options),
      rcv_settle_mode: 1,
      autoaccept: false,
      autosettle: true,
      credit_window: window,
    });
    sayUnsettled(
      this.container,
      link,
      [...this.held].map(([tag, held]) => [tag, this.stateOf(held)] as const),
    );
    link.on('receiver_open', () => this.attached(link.remote.attach?.unsettled ?? {}));
    link.on('message', (context) => this.came(context));
    link.on('settled', ({ delivery }) => {
      if (delivery !== undefined) this.settled(textOfTag(delivery.tag));
    });
    return link;
  }

  private stateOf({ decision }: Held): unknown {
    const { message } = this.container;
    if (decision === 'accept') return message.accepted().described();
    if (decision === 'release') return message.released().described();
    return decision === 'reject' ? message.rejected().described() : null;
  }

  /** @param known what the broker has, too; the rest is settled, or was given to others */
  private attached(known: Record<string, unknown>): void {
    for (const [tag, held] of this.held) {
      if (tag in known) continue;
      this.held.delete(tag);
      if (held.decision !== undefined) held.resolve();
      else held.reject(new Error('the link was away for too long: the message may have been given to others'));
    }
  }

  private came({ delivery, message }: RheaContext): void {
    if (delivery === undefined) return;
    const tag = textOfTag(delivery.tag);
    const known = this.held.get(tag);
    if (known !== undefined) {
      known.delivery = delivery;
      if (known.decision !== undefined) delivery[known.decision]();
      return;
    }
    const held = new Held(delivery);
    this.held.set(tag, held);
    const decide = (decision: Decision): Promise<void> => this.decide(tag, held, decision);
    this.onMessage({
      message,
      tag,
      accept: () => decide('accept'),
      release: () => decide('release'),
      reject: () => decide('reject'),
    });
  }

  private decide(tag: string, held: Held, decision: Decision): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.held.get(tag) !== held)
        return reject(new Error('the link was away for too long: the message may have been given to others'));
      held.decision = decision;
      held.resolve = resolve;
      held.reject = reject;
      held.delivery?.[decision]();
    });
  }

  private settled(tag: string): void {
    const held = this.held.get(tag);
    this.held.delete(tag);
    held?.resolve();
  }
}

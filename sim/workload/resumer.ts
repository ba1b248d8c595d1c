/** Clients that resume their links: every message is there, and is worked on, exactly once, whatever fails. */
import { NodeReceiver, NodeSender, type LinkPlan } from '../client/resumed-link.js';
import type { Connection } from '../client/connection.js';
import type { Session } from '../client/session.js';
import type { SimNode } from '../node.js';
import type { SimWorld, Stirred } from '../world.js';
import { Actor } from './actor.js';

export const resumedQueue = 'resumed';

/** What both clients know, and are judged by. */
export class ResumedBook {
  /** Numbers of messages that were accepted; and how often each was worked on. */
  readonly accepted: Set<number> = new Set();
  readonly worked: Map<number, number> = new Map();
  /** No more are sent. */
  isComplete = false;

  get isDone(): boolean {
    return this.isComplete && this.worked.size === this.accepted.size;
  }
}

abstract class Resumer extends Actor implements Stirred {
  protected readonly book: ResumedBook;
  protected readonly plan: LinkPlan;
  private stirred: () => void = () => {};

  constructor(world: SimWorld, name: string, book: ResumedBook) {
    super(world, name);
    this.book = book;
    this.plan = { queue: resumedQueue, name, publisher: world.publisherNumber(name) };
  }

  get at(): SimNode | undefined {
    return this.connection?.node;
  }

  stir(): void {
    this.stirred();
  }

  async run(): Promise<void> {
    this.world.onTrouble.add(this);
    await this.insist('declare', (session) => session.broker.wiring.declareQueue(declaration(session)));
    while (!this.isOver) if (!(await this.work(await this.connected()))) await this.drop();
    this.world.onTrouble.delete(this);
    this.disconnect();
  }

  protected abstract get isOver(): boolean;

  /** On one connection. False: it is of no use any more. */
  protected abstract work(connection: Connection): Promise<boolean>;

  protected pause(maxMs: number): Promise<void> {
    return Promise.race([this.sleep(1, maxMs), new Promise<void>((resolve) => (this.stirred = resolve))]);
  }

  private async drop(): Promise<void> {
    this.disconnect();
    await this.sleep(1, 50);
  }

  /** Undefined: the connection or the link is gone. */
  protected async ask<T>(
    connection: Connection,
    what: string,
    run: (session: Session) => Promise<T>,
  ): Promise<T | undefined> {
    const outcome = await this.patiently(what, connection, connection.request(run));
    this.world.trace.add(this.name, `${what}: ${outcome.kind}`);
    return outcome.kind === 'ok' ? outcome.value : undefined;
  }
}

function declaration({ id }: Session): Parameters<Session['broker']['wiring']['declareQueue']>[0] {
  const kind = { passive: false, durable: true, exclusive: false, autoDelete: false, arguments: {} };
  return { vhost: '/', name: resumedQueue, connection: id, ...kind };
}

/** Sends numbers, some at a time. */
export class ResumingPublisher extends Resumer {
  private readonly pending = new Set<number>();
  private readonly count: number;
  private last = 0;

  constructor(world: SimWorld, name: string, book: ResumedBook, count: number) {
    super(world, name, book);
    this.count = count;
  }

  override async run(): Promise<void> {
    await super.run();
    this.book.isComplete = true;
  }

  protected override get isOver(): boolean {
    return this.pending.size === 0 && (this.stopping || this.last >= this.count);
  }

  protected override async work(connection: Connection): Promise<boolean> {
    const link = await this.ask(connection, 'attach to send', async (session) => {
      const made = await NodeSender.attach(session.broker, this.plan);
      session.onClose.push(() => made.close());
      return made;
    });
    if (link === undefined) return false;
    const known = new Set(link.known.map(Number));
    for (const number of [...this.pending]) if (known.has(number)) this.accepted(connection, link, number);
    let isUseful = true;
    const send = (number: number): void => {
      void this.ask(connection, `send ${number}`, () => link.send(number)).then((outcome) => {
        if (outcome === 'accepted') this.accepted(connection, link, number);
        else isUseful = false;
      });
    };
    for (const number of this.pending) send(number);
    while (isUseful && connection.isOpen && !this.isOver) {
      await this.pause(30);
      for (let i = this.random.int(4); i > 0 && isUseful && !this.stopping && this.last < this.count; i--) {
        this.pending.add(++this.last);
        send(this.last);
      }
    }
    return isUseful && connection.isOpen;
  }

  private accepted(connection: Connection, link: NodeSender, number: number): void {
    if (!this.pending.delete(number)) return;
    this.book.accepted.add(number);
    void this.ask(connection, `settle ${number}`, async () => link.forget(number));
  }
}

/** Works on numbers, for a while each. */
export class ResumingWorker extends Resumer {
  /** By position: whether it has accepted the message, and has not been told that this is safe. */
  private readonly known = new Map<number, boolean>();

  protected override get isOver(): boolean {
    return this.stopping && this.book.isDone && this.known.size === 0;
  }

  protected override async work(connection: Connection): Promise<boolean> {
    const acks = [...this.known].filter(([, isAccepted]) => isAccepted).map(([position]) => position);
    const link = await this.ask(connection, 'attach to receive', async (session) => {
      const made = await NodeReceiver.attach(session.broker, session.id, this.plan, [...this.known.keys()], acks);
      session.onClose.push(() => made.close());
      return made;
    });
    if (link === undefined) return false;
    const both = new Set(link.both);
    for (const position of [...this.known.keys()]) if (!both.has(position)) this.known.delete(position);
    while (connection.isOpen) {
      const arrival = await Promise.race([connection.request(() => link.next()), this.untilOver()]);
      if (arrival === undefined) return true;
      if (arrival.kind !== 'ok' || arrival.value === undefined) return false;
      const { number, position } = arrival.value;
      if (!this.known.has(position)) this.worked(number);
      this.known.set(position, false);
      void this.finish(connection, link, position);
    }
    return false;
  }

  private worked(number: number): void {
    const times = (this.book.worked.get(number) ?? 0) + 1;
    this.book.worked.set(number, times);
    if (times > 1) this.world.fail('exactly-once', `message ${number} was worked on ${times} times`);
  }

  private async finish(connection: Connection, link: NodeReceiver, position: number): Promise<void> {
    await this.pause(20);
    if (!connection.isOpen || this.known.get(position) !== false) return;
    this.known.set(position, true);
    if ((await this.ask(connection, `accept ${position}`, () => link.accept(position))) === true)
      this.known.delete(position);
  }

  private async untilOver(): Promise<undefined> {
    while (!this.isOver) await this.sleep(20, 60);
    return undefined;
  }
}

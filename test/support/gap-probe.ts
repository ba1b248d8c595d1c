/** One queue with a publisher on one broker and a consumer on another: the longest time in which no confirm, or no message, came. */
import { BasicConsume, BasicPublish, ConfirmSelect, MethodId, QueueDeclare } from '../../src/amqp091/codec/index.js';
import { LoadConnection, publishFrames } from '../../src/cli/bench/connection.js';
import { sleep } from './cluster-processes.js';

const everyMs = 2;
const size = 64;
/** Connections that are being opened. */
const atOnce = 50;

/** The longest stretch without a sign. */
class Gap {
  private lastAt = 0;
  private longest = 0;

  begin(): void {
    this.lastAt = performance.now();
    this.longest = 0;
  }

  sign(): void {
    const now = performance.now();
    this.longest = Math.max(this.longest, now - this.lastAt);
    this.lastAt = now;
  }

  /** Milliseconds; the stretch that goes on counts. */
  get ms(): number {
    return Math.max(this.longest, performance.now() - this.lastAt);
  }
}

export class GapProbe implements AsyncDisposable {
  private readonly confirms = new Gap();
  private readonly deliveries = new Gap();
  private readonly connections: readonly LoadConnection[];
  private readonly timer: NodeJS.Timeout;
  private published = 0;
  private received = 0;

  private constructor(queue: string, publisher: LoadConnection, consumer: LoadConnection) {
    this.connections = [publisher, consumer];
    const ignore = (): void => {};
    const rest = { body: ignore, received: ignore, drained: ignore };
    const isConfirm = (id: number): boolean => id === MethodId.basicAck;
    publisher.handler = { ...rest, method: (id) => isConfirm(id) && this.confirms.sign() };
    consumer.handler = { ...rest, method: (id) => id === MethodId.basicDeliver && this.delivered() };
    const frames = publishFrames(new BasicPublish('', queue, false, false), true, size, publisher.frames.frameMax);
    this.timer = setInterval(() => {
      publisher.frames.output.raw(frames);
      publisher.flush();
      this.published++;
    }, everyMs);
    this.begin();
  }

  /** The queue must be there, and empty. @param publisher, consumer amqp://HOST:PORT */
  static async start(queue: string, publisher: string, consumer: string): Promise<GapProbe> {
    const to = await LoadConnection.open(new URL(publisher));
    const from = await LoadConnection.open(new URL(consumer));
    await to.ask(new ConfirmSelect(false));
    await from.ask(new BasicConsume(queue, '', false, true, false, false, {}));
    return new GapProbe(queue, to, from);
  }

  private delivered(): void {
    this.received++;
    this.deliveries.sign();
  }

  /** From now on gaps count. */
  begin(): void {
    this.confirms.begin();
    this.deliveries.begin();
  }

  /** The longest of either kind since `begin`, in milliseconds. */
  get longestMs(): number {
    return Math.max(this.confirms.ms, this.deliveries.ms);
  }

  /** Resolves when what is published from now on is received. Rejects after `timeoutMs`, or when a connection is lost. */
  async untilServed(timeoutMs: number): Promise<void> {
    const wanted = this.published + 1;
    const lost = this.connections.map((connection) => connection.lost);
    for (const deadline = performance.now() + timeoutMs; this.received < wanted; ) {
      if (performance.now() > deadline) throw new Error(`${this.received} of ${wanted} after ${timeoutMs} ms`);
      await Promise.race([sleep(everyMs), ...lost]);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.timer);
    await Promise.all(this.connections.map((connection) => connection.close()));
  }
}

/** Connections to these brokers in turn, with the same share of the queues each, which it declares and consumes. */
export async function crowd(urls: readonly string[], connections: number, queues: number): Promise<AsyncDisposable> {
  const all: LoadConnection[] = [];
  const open = async (index: number): Promise<void> => {
    const connection = await LoadConnection.open(new URL(urls[index % urls.length]!));
    all.push(connection);
    for (let queue = index; queue < queues; queue += connections) {
      const name = `crowd-${queue}`;
      await connection.ask(new QueueDeclare(name, false, true, false, false, false, {}));
      await connection.ask(new BasicConsume(name, '', false, false, false, false, {}));
    }
  };
  for (let i = 0; i < connections; i += atOnce)
    await Promise.all(Array.from({ length: Math.min(atOnce, connections - i) }, (_, j) => open(i + j)));
  return {
    [Symbol.asyncDispose]: async () => {
      await Promise.all(all.map((connection) => connection.close()));
    },
  };
}

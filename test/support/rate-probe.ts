/** A transient queue with a publisher on one broker and a consumer without acknowledgements on another, at a given rate: how long messages take. */
import { BasicConsume, BasicPublish, MethodId, QueueDeclare } from '../../src/amqp091/codec/index.js';
import { Ring } from '../../src/base/ring.js';
import { LoadConnection, publishFrames } from '../../src/cli/bench/connection.js';
import { Latencies, type LatencySummary } from '../../src/cli/bench/measures.js';

const tickMs = 2;
const size = 64;

export class RateProbe implements AsyncDisposable {
  private readonly times = new Latencies();
  private readonly sentAt = new Ring<number>();
  private readonly connections: readonly LoadConnection[];
  private readonly timer: NodeJS.Timeout;

  private constructor(queue: string, rate: number, publisher: LoadConnection, consumer: LoadConnection) {
    this.connections = [publisher, consumer];
    const ignore = (): void => {};
    const rest = { body: ignore, received: ignore, drained: ignore };
    publisher.handler = { ...rest, method: ignore };
    consumer.handler = { ...rest, method: (id) => id === MethodId.basicDeliver && this.came() };
    const frames = publishFrames(new BasicPublish('', queue, false, false), false, size, publisher.frames.frameMax);
    const began = performance.now();
    let sent = 0;
    this.timer = setInterval(() => {
      const now = performance.now();
      for (const due = ((now - began) * rate) / 1000; sent < due; sent++) {
        publisher.frames.output.raw(frames);
        this.sentAt.push(now);
      }
      publisher.flush();
    }, tickMs);
  }

  /** @param publisher, consumer amqp://HOST:PORT @param rate messages a second */
  static async start(queue: string, rate: number, publisher: string, consumer: string): Promise<RateProbe> {
    const to = await LoadConnection.open(new URL(publisher));
    const from = await LoadConnection.open(new URL(consumer));
    await to.ask(new QueueDeclare(queue, false, false, false, false, false, {}));
    await from.ask(new BasicConsume(queue, '', false, true, false, false, {}));
    return new RateProbe(queue, rate, to, from);
  }

  /** From now on times count. */
  begin(): void {
    this.times.reset();
  }

  /** From a publish to its delivery, since `begin`. */
  get summary(): LatencySummary | undefined {
    return this.times.summary();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.timer);
    await Promise.all(this.connections.map((connection) => connection.close()));
  }

  private came(): void {
    const sentAt = this.sentAt.shift();
    if (sentAt !== undefined) this.times.record(performance.now() - sentAt);
  }
}

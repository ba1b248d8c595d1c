/**
 * What a message costs in the primary's queue: publish, commit, deliver, acknowledge, commit, through GroupService with a log
 * that commits at once and a client that acknowledges at once. CPU time, best of many short rounds. `node build/bench/queue.bench.js [messages]`
 */
import type { EnqueueView, MessageParts } from '../src/log/record.js';
import type { GroupServicePort } from '../src/model/group-port.js';
import { QueueIndex } from '../src/model/queue/queue-index.js';
import { messageParts, TestClient, TestPrimary } from '../test/unit/model-queue/support.js';

const messages = Number(process.argv[2] ?? 2_000_000);
const perTurn = 500;

function nanoseconds(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start);
  return (user + system) * 1000;
}

class BenchClient extends TestClient {
  port: GroupServicePort | undefined;
  acks = true;
  received = 0;
  private incarnations = new Float64Array(perTurn * 4);
  private positions = new Float64Array(perTurn * 4);
  private count = 0;

  override deliver(
    _subscriber: number,
    incarnation: number,
    position: number,
    _flag: boolean,
    view: EnqueueView,
  ): void {
    this.received += view.bodyLength > 0 ? 1 : 0;
    if (!this.acks) return;
    this.incarnations[this.count] = incarnation;
    this.positions[this.count++] = position;
  }

  acknowledge(): void {
    const { count, port } = this;
    this.count = 0;
    for (let i = 0; i < count; i++) port!.ack(this.incarnations[i]!, this.positions[i]!);
    port!.grant(1, count);
  }
}

/** Lower ones are groups' own. */
const firstQueue = 100;

function bench(name: string, options: { replicated: boolean; durable: boolean; noAck: boolean; queues: number }): void {
  const primary = new TestPrimary();
  primary.log.replicated = options.replicated;
  const client = new BenchClient();
  client.acks = !options.noAck;
  const port = primary.attach(client);
  client.port = port;
  for (let q = 1; q <= options.queues; q++) {
    primary.openQueue(firstQueue + q, options.durable);
    const subscription = { consumerTag: '', noAck: options.noAck, exclusive: false, arguments: {}, credit: 1e9 };
    port.subscribe(q, firstQueue + q, 0, subscription);
  }
  const parts: MessageParts = messageParts('x'.repeat(100));
  const targets: number[][] = [];
  for (let q = 1; q <= options.queues; q++) targets.push([firstQueue + q]);
  let sequence = 0;
  const turns = (count: number): number => {
    const start = process.cpuUsage();
    for (let turn = 0; turn < count; turn++) {
      for (let i = 0; i < perTurn; i++)
        port.publish(parts, targets[i % options.queues]!, options.durable, ++sequence, 0);
      primary.run();
      client.acknowledge();
      primary.run();
    }
    return nanoseconds(start) / (count * perTurn);
  };
  turns(400);
  let best = Number.POSITIVE_INFINITY;
  for (let done = 0; done < messages; done += 20_000) best = Math.min(best, turns(20_000 / perTurn));
  if (client.received !== sequence || primary.state.queue(firstQueue + 1)!.index.size !== 0)
    throw new Error('messages are missing');
  console.log(`${name.padEnd(56)} ${best.toFixed(0).padStart(6)} ns a message`);
}

function benchMemory(): void {
  const index = new QueueIndex();
  const count = 3_000_000;
  const start = process.cpuUsage();
  for (let i = 1; i <= count; i++) index.add(i, i >>> 10, (i & 1023) * 200, 200, 100, true);
  const added = nanoseconds(start) / count;
  const bytes = index.allocatedBytes / count;
  console.log(`index: ${count} messages added, ${added.toFixed(0)} ns each, ${bytes.toFixed(1)} bytes each`);
}

bench('replicated, durable, acknowledged', { replicated: true, durable: true, noAck: false, queues: 1 });
bench('replicated, acknowledged, 4 queues in turn', { replicated: true, durable: false, noAck: false, queues: 4 });
bench('replicated, without acknowledgement', { replicated: true, durable: false, noAck: true, queues: 1 });
bench('alone, not durable, acknowledged', { replicated: false, durable: false, noAck: false, queues: 1 });
bench('alone, not durable, without acknowledgement', { replicated: false, durable: false, noAck: true, queues: 1 });
benchMemory();

/** How long a message that is published once takes to be seen through each member of a cluster. */
import {
  BasicPublish,
  ConfirmSelect,
  QueueDeclare,
  type QueueDeclareOk,
  QueueDelete,
  QueuePurge,
} from '../../amqp091/codec/index.js';
import { LoadConnection, publishFrames } from './connection.js';
import { Latencies, type LatencySummary } from './measures.js';

export interface LagOptions {
  /** The first publishes; all are asked. */
  urls: readonly URL[];
  rounds: number;
  /** Bytes of a body. */
  size: number;
  durable: boolean;
  queueType: string;
}

export interface LagSummary {
  /** Of the publisher. Milliseconds, as all. */
  confirm: LatencySummary;
  /** From the publish until a passive declaration through that member counts the message. */
  visible: { url: string; lag: LatencySummary }[];
}

/** Publishes, asks all members again and again until each has seen it, purges, `rounds` times. Rejects with CommandError. */
export async function measureLag(options: LagOptions): Promise<LagSummary> {
  const { urls, rounds, size, durable, queueType } = options;
  const queue = `understudy-lag-${process.pid}`;
  const members = await Promise.all(urls.map((url) => LoadConnection.open(url)));
  const publisher = await LoadConnection.open(urls[0]!);
  const lost = Promise.race([publisher, ...members].map((connection) => connection.lost));
  const confirms = new Confirms(publisher);
  const lags = urls.map(() => new Latencies());
  const confirmTimes = new Latencies();
  const isSeen = async (member: LoadConnection): Promise<boolean> => {
    const answer = await member.ask(new QueueDeclare(queue, true, false, false, false, false, {}));
    return (answer as QueueDeclareOk).messageCount > 0;
  };
  const measure = async (): Promise<void> => {
    const type = queueType === '' ? {} : { 'x-queue-type': queueType };
    await publisher.ask(new QueueDeclare(queue, false, durable, false, false, false, type));
    await publisher.ask(new ConfirmSelect(false));
    const frames = publishFrames(new BasicPublish('', queue, false, false), durable, size, publisher.frames.frameMax);
    for (let round = 0; round < rounds; round++) {
      const from = performance.now();
      const confirmed = confirms.next().then(() => confirmTimes.record(performance.now() - from));
      publisher.frames.output.raw(frames);
      publisher.flush();
      const seen = members.map(async (member, i) => {
        while (!(await isSeen(member)));
        lags[i]!.record(performance.now() - from);
      });
      await Promise.all([confirmed, ...seen]);
      await publisher.ask(new QueuePurge(queue, false));
    }
    await publisher.ask(new QueueDelete(queue, false, false, false));
  };
  await Promise.race([measure(), lost]);
  await Promise.all([publisher, ...members].map((connection) => connection.close()));
  return {
    confirm: confirmTimes.summary()!,
    visible: urls.map((url, i) => ({ url: url.host, lag: lags[i]!.summary()! })),
  };
}

/** One publish at a time is out. */
class Confirms {
  private confirmed: () => void = () => {};

  constructor(connection: LoadConnection) {
    connection.handler = {
      method: () => this.confirmed(),
      body: () => {},
      received: () => {},
      drained: () => {},
    };
  }

  next(): Promise<void> {
    return new Promise((resolve) => {
      this.confirmed = resolve;
    });
  }
}

/** Queues as RabbitMQ's management shows them. What is in a queue its group's primary is asked for, wherever that is. */
import type { BrokerNode } from '../broker-node.js';
import { RefusedError } from '../base/errors.js';
import type { QueueObject } from '../model/wiring/objects.js';
import { queueType } from '../model/wiring/queue-arguments.js';
import { describeQueueObject } from './describe.js';

type Described = Record<string, unknown>;

/** What the primary is asked for. */
export const countFields: readonly string[] = [
  'messages',
  'messages_ready',
  'messages_unacknowledged',
  'consumers',
  'state',
];

/** How long a primary is waited for that others wait for too. */
const countMsMax = 3000;

/** For one answer: what it has found of a group holds for all its queues. */
export class QueueView {
  private readonly broker: BrokerNode;
  private readonly members = new Map<number, ReturnType<BrokerNode['report']['membersOf']>>();
  /** Groups whose primary did not answer in time. */
  private readonly silent = new Set<number>();

  constructor(broker: BrokerNode) {
    this.broker = broker;
  }

  /** Without what is in it. */
  describe(queue: QueueObject): Described {
    const { tables } = this.broker;
    const { vhost, name, group } = queue;
    const { policy, operatorPolicy, definition } = tables.policies.ofQueue(vhost, name);
    const { leader, members, online } = this.membersOf(group);
    return {
      ...describeQueueObject(queue),
      exclusive: queue.owner !== '',
      type: queueType(queue.arguments),
      policy: policy?.name ?? null,
      operator_policy: operatorPolicy?.name ?? null,
      effective_policy_definition: definition ?? {},
      moving: tables.moves.of(queue)?.stage ?? '',
      node: leader,
      group,
      leader,
      members,
      online,
    };
  }

  /** Adds what is in it; of a queue whose primary does not answer, that it is down. */
  async count({ vhost, name, group }: QueueObject, described: Described): Promise<void> {
    described['state'] = 'down';
    if (this.silent.has(group) || this.membersOf(group).leader === '') return;
    const counts = await this.inTime(group, this.broker.broker.queueStatus(vhost, name));
    if (counts === undefined) return;
    const { messages, unacknowledged, consumers } = counts;
    Object.assign(described, {
      state: 'running',
      messages: messages + unacknowledged,
      messages_ready: messages,
      messages_unacknowledged: unacknowledged,
      consumers,
    });
  }

  /** Undefined: it did not come, or the queue is gone by now. */
  private async inTime<T>(group: number, asked: Promise<T>): Promise<T | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => {
        this.silent.add(group);
        resolve(undefined);
      }, countMsMax);
    });
    try {
      return await Promise.race([asked, late]);
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }

  private membersOf(group: number): ReturnType<BrokerNode['report']['membersOf']> {
    let found = this.members.get(group);
    if (found === undefined) {
      found = this.broker.report.membersOf(group);
      this.members.set(group, found);
    }
    return found;
  }
}

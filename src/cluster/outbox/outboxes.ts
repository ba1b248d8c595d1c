/** Has the outboxes of the groups that this node leads sent on. */
import type { Timer } from '../../base/clock.js';
import type { Lsn } from '../../log/lsn.js';
import type { GroupState } from '../../model/group-state.js';
import { outboxIncarnation } from '../../model/queue/outbox.js';
import type { GroupDirectory } from '../client/ports.js';
import { OutboxSender, type OutboxSenderOptions } from './outbox-sender.js';

/** A group's first dead letter waits so long, at most. */
const lookMs = 20;

export interface OutboxesOptions extends Omit<OutboxSenderOptions, 'group' | 'done'> {
  directory: Pick<GroupDirectory, 'led' | 'onChange'>;
  /** Of a group that this node leads. */
  state(group: number): GroupState;
}

interface Led {
  readonly epoch: number;
  /** Undefined as long as the group owes nothing to anyone. */
  sender: OutboxSender | undefined;
}

export class Outboxes {
  private readonly options: OutboxesOptions;
  private readonly led = new Map<number, Led>();
  private readonly timer: Timer;

  constructor(options: OutboxesOptions) {
    this.options = options;
    options.directory.onChange((group) => this.changed(group));
    this.timer = options.clock.every(lookMs, () => this.look());
  }

  close(): void {
    this.timer.cancel();
    for (const { sender } of this.led.values()) sender?.close();
    this.led.clear();
  }

  /** Outboxes that are consumed from. */
  get count(): number {
    let count = 0;
    for (const { sender } of this.led.values()) if (sender !== undefined) count++;
    return count;
  }

  private changed(group: number): void {
    const now = this.options.directory.led(group);
    const before = this.led.get(group);
    if (before?.epoch === now?.epoch) return;
    before?.sender?.close();
    if (now === undefined) this.led.delete(group);
    else this.led.set(group, { epoch: now.epoch, sender: undefined });
  }

  private look(): void {
    const { options } = this;
    for (const [group, led] of this.led) {
      if (led.sender !== undefined || options.state(group).queue(outboxIncarnation) === undefined) continue;
      led.sender = new OutboxSender({ ...options, group, done: () => this.doneOf(group) });
    }
  }

  /** What has left the outbox for good is on no replica any more. */
  private doneOf(group: number): Lsn {
    const first = this.options.state(group).queue(outboxIncarnation)?.index.first ?? Number.NaN;
    return Number.isNaN(first) ? 0 : first;
  }
}

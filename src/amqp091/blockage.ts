/**
 * Why a connection's publishes wait, and what its client is told of it (connection.blocked). Two reasons:
 *
 * - The broker's gate is closed: a connection that has published is not read.
 * - A publish went into a queue that is too full (`x-flow-stop-count`). A connection that has nothing else to say is not read. What
 *   a client settles must be read, though, or the queue might never get emptier: if the connection consumes, its channel waits as for
 *   an answer of the broker, while other channels go on. If it is messages of such a queue that the client holds, and what it says of
 *   them may stand behind its publishes, those are taken one by one, slowly.
 */
import type { Clock, Timer } from '../base/clock.js';
import type { Broker, Route, StopWaiter } from '../model/broker.js';
import type { ClientTraits } from './client-traits.js';
import { type Channel, ChannelState } from './channel.js';
import { ConnectionBlocked, ConnectionUnblocked, fitShortString, type Method } from './codec/index.js';
import type { ChannelTable } from './channel-table.js';
import type { Input } from '../socket/input.js';
import { Pause } from '../socket/input-gate.js';

/** How often a channel that waits may go on for one publish, if it must. */
const slowlyMs = 10;

/** What it needs of its connection. */
export interface BlockageHost {
  readonly traits: Pick<ClientTraits, 'blockedNotify'>;
  readonly broker: Broker;
  readonly clock: Clock;
  readonly input: Input;
  readonly channels: ChannelTable;
  send(method: Method): void;
}

/** A channel that waits; undefined: the connection as a whole. */
class Stop implements StopWaiter {
  readonly channel: Channel | undefined;
  private readonly over: (stop: Stop) => void;

  constructor(channel: Channel | undefined, over: (stop: Stop) => void) {
    this.channel = channel;
    this.over = over;
  }

  goOn(): void {
    this.over(this);
  }
}

export class Blockage {
  private readonly host: BlockageHost;
  private readonly stops = new Set<Stop>();
  private gateReason = '';
  private stopReason = '';
  private toldBlocked = false;
  private isOver = false;
  private timer: Timer | undefined;

  constructor(host: BlockageHost) {
    this.host = host;
  }

  get isBlocked(): boolean {
    return this.gateReason !== '' || this.stops.size > 0;
  }

  /** The broker's gate has opened ('') or closed. */
  gateChanged(reason: string): void {
    const { input } = this.host;
    this.gateReason = reason;
    const shut = reason !== '';
    if (shut !== input.isPausedBy(Pause.gate)) {
      if (shut) input.pause(Pause.gate);
      else input.unpause(Pause.gate);
    }
    this.tell();
  }

  /** The channel has published by that route: if it leads into a queue that is too full it waits. */
  published(route: Route, channel: Channel): void {
    const { broker, input, clock } = this.host;
    if (this.isOver || input.isPausedBy(Pause.stop) || !broker.stops.stops(route)) return;
    const stop = new Stop(this.onlyPublishes ? undefined : channel, this.over);
    const reason = broker.stops.await(route, stop);
    if (reason === '') return;
    this.stops.add(stop);
    this.stopReason = reason;
    if (stop.channel === undefined) input.pause(Pause.stop);
    else {
      stop.channel.wait();
      this.timer ??= clock.every(slowlyMs, () => this.letGo());
    }
    this.tell();
  }

  /** The client closes the connection: what has come before that counts. */
  close(): void {
    this.isOver = true;
    for (const stop of [...this.stops]) this.end(stop);
  }

  /** Channels that must not wait on: they are ending, or what would end the waiting may stand behind what waits. */
  private letGo(): void {
    const { input, channels } = this.host;
    const holdsStopped = !channels.every((channel) => !channel.deliveries.holdsStopped);
    const isFull = input.isPausedBy(Pause.backlog) || input.isPausedBy(Pause.backlogs);
    for (const stop of [...this.stops]) {
      const { channel } = stop;
      if (channel === undefined) continue;
      const isStuck = holdsStopped && (isFull || channel.deliveries.holdsStopped);
      if (isStuck || channel.state !== ChannelState.open) this.end(stop);
    }
  }

  /** No channel has consumers, deliveries that are not settled, or a method that waits for the broker. */
  private get onlyPublishes(): boolean {
    return this.host.channels.every((channel) => channel.idle && channel.deliveries.isUnused);
  }

  private end(stop: Stop): void {
    this.host.broker.stops.forget(stop);
    this.over(stop);
  }

  private readonly over = (stop: Stop): void => {
    if (!this.stops.delete(stop)) return;
    if (this.stops.size === 0) {
      this.timer?.cancel();
      this.timer = undefined;
    }
    // It may publish from within, and wait again: the client has not been told otherwise then.
    if (stop.channel === undefined) this.host.input.unpause(Pause.stop);
    else stop.channel.answer(() => {});
    this.tell();
  };

  private tell(): void {
    const { host, isBlocked } = this;
    if (isBlocked === this.toldBlocked || !host.traits.blockedNotify || this.isOver) return;
    this.toldBlocked = isBlocked;
    const reason = this.gateReason === '' ? this.stopReason : this.gateReason;
    host.send(isBlocked ? new ConnectionBlocked(fitShortString(reason)) : new ConnectionUnblocked());
  }
}

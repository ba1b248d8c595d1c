/** What one case has of a broker: names that no other case uses, and connections that end with it. */
import { Client } from './client.js';
import { Management } from './management.js';
import type { Target } from './targets/target.js';
import { Wire, type WireOptions } from './wire.js';

export class Session {
  readonly target: Target;
  readonly management: Management;
  /** Arguments of all its queues, besides their own. */
  queueArguments: Readonly<Record<string, string>> = {};
  private readonly prefix: string;
  private names = 0;
  private readonly ends: (() => void | Promise<void>)[] = [];

  /** How long it waits for what must come. */
  readonly patienceMs: number;

  /** @param prefix of all its names */
  constructor(target: Target, prefix: string, patienceMs: number) {
    this.target = target;
    this.management = new Management(this);
    this.ends.push(() => this.management.end());
    this.prefix = prefix;
    this.patienceMs = patienceMs;
  }

  /** A name for a queue or exchange. */
  name(): string {
    this.names++;
    return `${this.prefix}.${this.names}`;
  }

  /** A connection of amqplib with a channel in confirm mode. */
  async client(): Promise<Client> {
    const client = await Client.open(this);
    this.ends.push(() => client.end());
    return client;
  }

  /** A raw connection whose channel 1 is open. */
  async wire(options: WireOptions = {}): Promise<Wire> {
    const wire = await Wire.open(this, options);
    this.ends.push(() => wire.end());
    return wire;
  }

  async end(): Promise<void> {
    for (const end of this.ends.reverse()) await end();
  }
}

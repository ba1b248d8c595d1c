/**
 * Clients of a hot standby cluster, as many as wanted: each keeps one connection, is told the members by its server, and when it
 * loses the connection tries them in that order. A client is served when a publish of its own is confirmed.
 */
import * as amqp from 'amqplib';
import {
  ConfirmSelect,
  ConnectionOpen,
  ConnectionTuneOk,
  MethodId,
  protocolHeader,
} from '../../src/amqp091/codec/index.js';
import { RawClient, startOk } from './raw-client.js';

const queue = 'failover';
/** After all members have refused. */
const roundPauseMs = 50;

/** What one client saw of one failover. */
export interface Reconnection {
  failedConnects: number;
  /** From the lost connection to the first confirm. */
  outageMs: number;
}

class FailoverClient {
  private connection: RawClient | undefined;
  private addresses: string[];
  private leaving = false;
  /** Resolves with the next reconnection. */
  next!: Promise<Reconnection>;
  private reconnected!: (reconnection: Reconnection) => void;

  constructor(address: string) {
    this.addresses = [address];
    this.expectOne();
  }

  private expectOne(): void {
    this.next = new Promise((resolve) => {
      this.reconnected = resolve;
    });
  }

  /** Connects, wherever it is let in, and waits for a confirm. Returns how many tries failed. */
  async serve(): Promise<number> {
    const { addresses } = this;
    for (let tries = 0; ; tries++) {
      if (tries > 0 && tries % addresses.length === 0)
        await new Promise((resolve) => setTimeout(resolve, roundPauseMs));
      try {
        await this.open(addresses[tries % addresses.length]!);
        return tries;
      } catch (error) {
        if (this.leaving) throw error;
      }
    }
  }

  private async open(address: string): Promise<void> {
    const connection = await RawClient.dial(Number(address.slice(address.lastIndexOf(':') + 1)));
    try {
      connection.sendBytes(protocolHeader);
      const { method } = await connection.expect(MethodId.connectionStart);
      connection.send(0, startOk('guest', 'guest', {}));
      await connection.expect(MethodId.connectionTune);
      connection.send(0, new ConnectionTuneOk(0, 0, 0));
      connection.send(0, new ConnectionOpen('/'));
      await connection.expect(MethodId.connectionOpenOk);
      await connection.openChannel(1);
      connection.send(1, new ConfirmSelect(false));
      await connection.expect(MethodId.confirmSelectOk, 1);
      connection.publish(1, '', queue, '.', { deliveryMode: 2 });
      await connection.expect(MethodId.basicAck, 1);
      this.addresses = method.serverProperties['understudy.addresses'] as string[];
    } catch (error) {
      connection.end();
      throw error;
    }
    this.connection = connection;
    void connection.closed.then(() => {
      if (!this.leaving) void this.comeBack();
    });
  }

  private async comeBack(): Promise<void> {
    const lostAt = performance.now();
    const failedConnects = await this.serve().catch(() => -1);
    if (failedConnects < 0) return;
    const reconnected = this.reconnected;
    this.expectOne();
    reconnected({ failedConnects, outageMs: performance.now() - lostAt });
  }

  close(): void {
    this.leaving = true;
    this.connection?.end();
  }
}

export class FailoverClients {
  private readonly clients: FailoverClient[];

  private constructor(clients: FailoverClient[]) {
    this.clients = clients;
  }

  /** Resolves when all are served. @param primary HOST:PORT */
  static async start(count: number, primary: string): Promise<FailoverClients> {
    const connection = await amqp.connect(`amqp://${primary}`);
    const channel = await connection.createChannel();
    await channel.assertQueue(queue, { durable: true });
    await connection.close();
    const clients = Array.from({ length: count }, () => new FailoverClient(primary));
    const atOnce = 50;
    for (let i = 0; i < count; i += atOnce)
      await Promise.all(clients.slice(i, i + atOnce).map((client) => client.serve()));
    return new FailoverClients(clients);
  }

  /** Runs `failover` and resolves when each has lost its connection and is served again. */
  async through(failover: () => Promise<void>): Promise<Reconnection[]> {
    const all = this.clients.map((client) => client.next);
    await failover();
    return await Promise.all(all);
  }

  close(): void {
    for (const client of this.clients) client.close();
  }
}

/** For the test's output: worst and median. */
export function describeReconnections(reconnections: readonly Reconnection[]): string {
  const outages = reconnections.map(({ outageMs }) => outageMs).sort((a, b) => a - b);
  const failed = reconnections.map(({ failedConnects }) => failedConnects);
  const counts = [0, 1, 2, 3].map((n) => `${n}: ${failed.filter((f) => f === n).length}`).join(', ');
  return (
    `${outages.length} clients, outage median ${outages[outages.length >> 1]!.toFixed()} ms, ` +
    `longest ${outages[outages.length - 1]!.toFixed()} ms; clients by failed connects ${counts}, most ${Math.max(...failed)}`
  );
}

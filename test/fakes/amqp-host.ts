import type { Clock } from '../../src/base/clock.js';
import { type Logger, silentLogger } from '../../src/base/logger.js';
import { Turn } from '../../src/base/turn.js';
import type { Limits } from '../../src/amqp091/limits.js';
import { productAs } from '../../src/amqp091/product.js';
import { type Amqp091Server, createAmqp091Server } from '../../src/amqp091/server.js';
import type { TlsEntrance } from '../../src/security/tls-entrance.js';
import { AccessTables } from '../../src/model/access/access-tables.js';
import { Authenticator } from '../../src/security/authenticator.js';
import { Realm } from '../../src/security/realm.js';
import { FakeAdmission } from './fake-admission.js';
import { FakeBroker } from './fake-broker.js';

export const systemClock: Clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return { cancel: () => clearTimeout(timer) };
  },
  every(periodMs, run) {
    const timer = setInterval(run, periodMs);
    return { cancel: () => clearInterval(timer) };
  },
};

/** An AMQP 0-9-1 server on a free port, on top of the fake broker. */
export class AmqpHost implements AsyncDisposable {
  readonly broker: FakeBroker;
  readonly admission: FakeAdmission;
  readonly server: Amqp091Server;
  readonly port: number;

  private constructor(broker: FakeBroker, admission: FakeAdmission, server: Amqp091Server, port: number) {
    this.broker = broker;
    this.admission = admission;
    this.server = server;
    this.port = port;
  }

  /** Listens for AMQP over TLS too; resolves to the port. */
  async listenTls(entrance: TlsEntrance): Promise<number> {
    return (await this.server.listen('127.0.0.1', 0, entrance)).port;
  }

  /** @param access users of its own; without, guest may do everything */
  static async start(
    limits: Partial<Limits> = {},
    clock: Clock = systemClock,
    logger: Logger = silentLogger,
    access: AccessTables = new AccessTables(),
  ): Promise<AmqpHost> {
    const turn = new Turn(setImmediate);
    const broker = new FakeBroker(turn);
    const admission = new FakeAdmission();
    const realm = new Realm({ access, own: new Map(), first: new Map([['guest', 'guest']]), isSettled: () => true });
    const authenticator = new Authenticator({ realm, clock, loopbackUsers: ['guest'], anonymousUser: '' });
    const server = createAmqp091Server({
      broker,
      turn,
      later: setImmediate,
      clock,
      logger,
      authenticator,
      admission,
      limits,
      product: productAs('understudy', '0.0.0', 'test'),
      boot: 1,
    });
    const { port } = await server.listen('127.0.0.1', 0);
    return new AmqpHost(broker, admission, server, port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.destroy();
    while (this.server.connectionCount > 0) await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Waits until `condition` holds; fails after a while. */
export async function eventually(condition: () => boolean, what = 'the condition'): Promise<void> {
  const deadline = performance.now() + 3000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`${what} did not come true`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

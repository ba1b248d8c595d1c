import type { Limits } from '../../src/amqp10/limits.js';
import { Amqp10Server } from '../../src/amqp10/server.js';
import { productAs } from '../../src/amqp091/product.js';
import { type Amqp091Server, createAmqp091Server } from '../../src/amqp091/server.js';
import { InputTurns } from '../../src/base/input-turns.js';
import { silentLogger } from '../../src/base/logger.js';
import { Turn } from '../../src/base/turn.js';
import { AccessTables } from '../../src/model/access/access-tables.js';
import { Authenticator } from '../../src/security/authenticator.js';
import { Occupancy } from '../../src/security/occupancy.js';
import { Realm } from '../../src/security/realm.js';
import { systemClock } from './amqp-host.js';
import { FakeAdmission } from './fake-admission.js';
import { FakeBroker } from './fake-broker.js';

/** Both protocols on a free port, on top of the fake broker. */
export class Amqp10Host implements AsyncDisposable {
  readonly broker: FakeBroker;
  readonly admission: FakeAdmission = new FakeAdmission();
  readonly server: Amqp10Server;
  readonly front: Amqp091Server;
  port = 0;

  /** @param limits of AMQP 1.0 */
  private constructor(limits: Partial<Limits>) {
    const turn = new Turn(setImmediate);
    const access = new AccessTables();
    const realm = new Realm({ access, own: new Map(), first: new Map([['guest', 'guest']]), isSettled: () => true });
    this.broker = new FakeBroker(turn);
    const shared = {
      broker: this.broker,
      turn,
      clock: systemClock,
      logger: silentLogger,
      authenticator: new Authenticator({ realm, clock: systemClock, loopbackUsers: ['guest'], anonymousUser: '' }),
      admission: this.admission,
      product: productAs('understudy', '0.0.0', 'test'),
      inputTurns: new InputTurns(512 * 1024, setImmediate),
      occupancy: new Occupancy(realm),
    };
    this.server = new Amqp10Server({ ...shared, limits });
    this.front = createAmqp091Server({ ...shared, later: setImmediate, boot: 1, others: [this.server] });
  }

  static async start(limits: Partial<Limits> = {}): Promise<Amqp10Host> {
    const host = new Amqp10Host(limits);
    host.port = (await host.front.listen('127.0.0.1', 0)).port;
    return host;
  }

  /** Declares a queue. */
  async queue(name: string): Promise<void> {
    const flags = { passive: false, durable: true, exclusive: false, autoDelete: false };
    await this.broker.declareQueue({ vhost: '/', name, ...flags, arguments: {}, connection: '' });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.front.destroy();
    this.server.destroy();
    while (this.front.connectionCount + this.server.connectionCount > 0)
      await new Promise((resolve) => setImmediate(resolve));
  }
}

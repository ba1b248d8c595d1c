import { Refusal } from '../../src/base/errors.js';
import { Hashing } from '../../src/model/access/objects.js';
import type { Session } from '../client/session.js';
import { Actor } from './actor.js';

/** Sets and deletes users, permissions and vhosts with something in them, through any node. */
export class Warden extends Actor {
  /** Names about which something was asked whose answer was lost: it may be carried out later than what comes after. */
  private readonly doubtful = new Set<string>();

  async run(): Promise<void> {
    while (!this.stopping) {
      await this.sleep(50, 1500);
      await this.random.pick([this.setUser, this.deleteUser, this.permit, this.setVhost, this.deleteVhost]).call(this);
    }
    this.disconnect();
  }

  private async setUser(): Promise<void> {
    const name = `user-${1 + this.random.int(3)}`;
    const tag = this.random.pick(['administrator', 'monitoring']);
    const user = { name, tags: [tag], hashing: Hashing.sha256, hash: '', scram: '' };
    if (await this.change(name, `user ${name} is ${tag}`, (session) => session.access.setUser(user)))
      this.world.settings.users.set(name, tag);
  }

  private async deleteUser(): Promise<void> {
    const name = `user-${1 + this.random.int(3)}`;
    if (await this.change(name, `no user ${name}`, (session) => session.access.deleteUser(name)))
      this.world.settings.users.set(name, '');
  }

  private async permit(): Promise<void> {
    const known = [...this.world.settings.users].filter(([, tag]) => tag !== '');
    if (known.length === 0) return;
    const [user] = this.random.pick(known);
    const write = this.random.pick(['.*', '^a', '']);
    const permission = { user, vhost: '/', configure: '.*', write, read: '.*' };
    await this.change('', `${user} may write ${write}`, (session) => session.access.setPermission(permission));
  }

  private async setVhost(): Promise<void> {
    const name = `side-${1 + this.random.int(2)}`;
    const vhost = { name, description: '', tags: [] };
    if (await this.change(name, `vhost ${name}`, (session) => session.access.setVhost(vhost)))
      this.world.settings.vhosts.set(name, true);
    const count = this.random.int(4);
    for (let i = 0; i < count; i++)
      await this.change('', `queue ${i} in ${name}`, (session) => fill(session, name, `q${i}`));
  }

  private async deleteVhost(): Promise<void> {
    const name = `side-${1 + this.random.int(2)}`;
    if (await this.change(name, `no vhost ${name}`, (session) => session.access.deleteVhost(name)))
      this.world.settings.vhosts.set(name, false);
  }

  /** Resolves to whether what is so now of the name is known. */
  private async change(name: string, what: string, work: (session: Session) => Promise<unknown>): Promise<boolean> {
    const outcome = await this.insist(what, work);
    if (outcome.uncertain) this.forget(name);
    if (outcome.kind === 'ok') return !this.doubtful.has(name);
    const { error } = outcome;
    // A young cluster does not know yet that all of its nodes know users; a deletion that was lost may have come in between.
    const isYoung = error.kind === Refusal.preconditionFailed && /speaks protocol version/.test(error.message);
    const isGone = error.kind === Refusal.notFound && this.doubtful.size > 0;
    if (!isYoung && !isGone) this.world.fail('declarations', `${what}: ${error.message}`);
    return false;
  }

  private forget(name: string): void {
    this.doubtful.add(name);
    this.world.settings.users.delete(name);
    this.world.settings.vhosts.delete(name);
  }
}

async function fill({ broker, id }: Session, vhost: string, name: string): Promise<void> {
  const queue = { passive: false, durable: true, exclusive: false, autoDelete: false, arguments: {}, connection: id };
  await broker.wiring.declareQueue({ vhost, name, ...queue });
  const binding = { vhost, source: 'amq.fanout', destination: name, destinationKind: 'queue', routingKey: '' } as const;
  await broker.wiring.bind({ ...binding, arguments: {} }, id);
}

/** Logins from another address than this machine's own 127.0.0.1. */
import '../support/own-network.js';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import * as amqp from 'amqplib';
import { freePorts } from '../support/free-ports.js';
import { ipCommand } from '../support/hosts.js';
import { LoneBroker } from '../support/lone-broker.js';
import { request } from './support/http.js';

/** Whoever connects to it comes from it. */
const address = '10.77.99.1';
execFileSync(ipCommand, ['addr', 'add', `${address}/32`, 'dev', 'lo']);

/** A broker that listens everywhere. */
class Remote implements AsyncDisposable {
  readonly port: number;
  readonly broker: LoneBroker;

  private constructor(port: number, broker: LoneBroker) {
    this.port = port;
    this.broker = broker;
  }

  static async start(options: readonly string[] = []): Promise<Remote> {
    const [port] = await freePorts(28_400, 2);
    // The last of an option counts.
    const everywhere = ['--amqp', `0.0.0.0:${port}`, '--http', `0.0.0.0:${port! + 1}`];
    return new Remote(port!, await LoneBroker.start({ options: [...everywhere, ...options] }));
  }

  connect(username: string, password: string, hostname = address): Promise<amqp.ChannelModel> {
    return amqp.connect({ hostname, port: this.port, username, password });
  }

  api(hostname = address): string {
    return `http://${hostname}:${this.port + 1}/api`;
  }

  /** What was logged of logins. */
  get refusals(): Record<string, unknown>[] {
    const lines = this.broker.log.split('\n').filter((line) => line.includes('login refused'));
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.broker[Symbol.asyncDispose]();
  }
}

describe('logins from elsewhere', () => {
  it('are refused to guest, with what to do about it, and allowed to others', async () => {
    await using remote = await Remote.start();
    await assert.rejects(
      remote.connect('guest', 'guest'),
      /403 .*user 'guest' can only connect via localhost: add another user, or see the setting loopback-users/,
    );
    const [local, far] = [remote.api('127.0.0.1'), remote.api()];
    const refused = await request(`${far}/whoami`);
    assert.equal(refused.status, 401);
    assert.match(String(refused.body['reason']), /can only connect via localhost/);
    const user = { password: 'a', tags: 'administrator' };
    assert.equal((await request(`${local}/users/ann`, { method: 'PUT', body: user })).status, 201);
    const all = { configure: '.*', write: '.*', read: '.*' };
    assert.equal((await request(`${local}/permissions/%2F/ann`, { method: 'PUT', body: all })).status, 201);
    assert.equal((await request(`${far}/whoami`, { credentials: 'ann:a' })).body['name'], 'ann');
    await (await remote.connect('ann', 'a')).close();
    await (await remote.connect('guest', 'guest', '127.0.0.1')).close();
  });

  it('are allowed to guest where the settings say so', async () => {
    await using remote = await Remote.start(['--loopback-users', 'none']);
    await (await remote.connect('guest', 'guest')).close();
  });

  it('that fail are slowed down and logged once each, without what was tried; who is known is not slowed', async () => {
    await using remote = await Remote.start(['--loopback-users', 'none']);
    await (await remote.connect('guest', 'guest')).close();
    const began = performance.now();
    for (let i = 0; i < 5; i++) await assert.rejects(remote.connect('guest', `guess-${i}`), /403/);
    const took = performance.now() - began;
    assert.ok(took >= 100 + 200 + 400 + 800 + 1600, `five guesses took ${took} ms`);
    const another = performance.now();
    await (await remote.connect('guest', 'guest')).close();
    assert.ok(performance.now() - another < 1500, 'the right password waits for the wrong ones');
    const { refusals, broker } = remote;
    assert.equal(refusals.length, 5);
    for (const { user, reason, connection } of refusals) {
      assert.deepEqual([user, reason], ['guest', 'wrong password']);
      assert.match(String(connection), /^10\.77\.99\.1:\d+ -> /);
    }
    assert.doesNotMatch(broker.log, /guess-|ACCESS_REFUSED/);
  });
});

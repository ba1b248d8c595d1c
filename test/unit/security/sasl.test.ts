import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Hashing } from '../../../src/model/access/objects.js';
import { amqplain } from '../../../src/amqp091/amqplain.js';
import { Authenticator, isRefused } from '../../../src/security/authenticator.js';
import { peerAt } from '../../../src/security/peer.js';
import { formatScramKeys, makeScramKeys } from '../../../src/security/scram-keys.js';
import type { Step } from '../../../src/security/sasl/mechanism.js';
import { ManualClock } from '../../fakes/manual-clock.js';
import { ScramClient } from './scram-client.js';
import { realmOf, TestTables, text } from './support.js';

const here = peerAt('127.0.0.1');

async function authenticator(anonymousUser = ''): Promise<Authenticator> {
  const tables = new TestTables();
  const scram = async (password: string): Promise<string> => formatScramKeys(await makeScramKeys(text(password)));
  tables.person('ann', { scram: await scram('secret') });
  tables.person('a,b=c', { scram: await scram('x') });
  tables.person('imported', { hashing: Hashing.sha256, hash: 'x' });
  tables.person('guest', { tags: ['administrator'] });
  const realm = realmOf(tables, { own: new Map([['own', 'mine']]) });
  return new Authenticator({ realm, clock: new ManualClock(), loopbackUsers: ['guest'], anonymousUser });
}

async function login(all: Authenticator, mechanism: string, response: string | Uint8Array): Promise<Step> {
  return all.begin(mechanism, here)!.next(Buffer.from(response));
}

async function scram(all: Authenticator, client: ScramClient): Promise<Step> {
  const exchange = all.begin('SCRAM-SHA-256', here)!;
  const step = await exchange.next(client.first);
  assert.equal(step.kind, 'challenge');
  return exchange.next(client.final((step as { challenge: Uint8Array }).challenge));
}

const senseless = { kind: 'refused', user: '', reason: 'the response makes no sense' };

describe('SASL', () => {
  it('offers ANONYMOUS only where a user is named for it', async () => {
    assert.deepEqual((await authenticator()).offered(here), ['PLAIN', 'SCRAM-SHA-256']);
    assert.equal((await authenticator()).begin('ANONYMOUS', here), undefined);
    const open = await authenticator('ann');
    assert.deepEqual(open.offered(here), ['PLAIN', 'SCRAM-SHA-256', 'ANONYMOUS']);
    assert.deepEqual(await login(open, 'ANONYMOUS', 'trace'), { kind: 'user', user: 'ann' });
  });

  it('takes the name of a certificate for a user, where one was shown', async () => {
    const all = await authenticator();
    assert.equal(all.begin('EXTERNAL', here), undefined);
    const outcome = async (name: string): Promise<unknown> => {
      const peer = peerAt('127.0.0.1', name);
      assert.ok(all.offered(peer).includes('EXTERNAL'));
      const step = await all.begin('EXTERNAL', peer)!.next(Buffer.from('guest'));
      return step.kind === 'user' ? step.user : step;
    };
    assert.equal(await outcome('ann'), 'ann');
  });

  it('reads PLAIN, with or without an authorization identity', async () => {
    const all = await authenticator();
    for (const identity of ['', 'other'])
      assert.deepEqual(await login(all, 'PLAIN', `${identity}\0own\0mine`), { kind: 'user', user: 'own' });
    assert.deepEqual(await login(all, 'PLAIN', '\0own\0Mine'), {
      kind: 'refused',
      user: 'own',
      reason: 'wrong password',
    });
    for (const nonsense of ['own\0mine', '\0own\0mine\0', ''])
      assert.deepEqual(await login(all, 'PLAIN', nonsense), senseless);
  });

  it('reads AMQPLAIN', async () => {
    const all = await authenticator();
    all.add(amqplain(all.checkPassword));
    const field = (name: string, value: string): string =>
      `${String.fromCharCode(name.length)}${name}S\0\0\0${String.fromCharCode(value.length)}${value}`;
    const response = `${field('LOGIN', 'own')}${field('PASSWORD', 'mine')}`;
    assert.deepEqual(await login(all, 'AMQPLAIN', response), { kind: 'user', user: 'own' });
    assert.deepEqual(await login(all, 'AMQPLAIN', 'LOGIN'), senseless);
  });

  it('proves both sides to each other by SCRAM-SHA-256', async () => {
    const all = await authenticator();
    for (const [name, password] of [
      ['ann', 'secret'],
      ['a,b=c', 'x'],
      ['own', 'mine'],
    ] as const) {
      const client = new ScramClient(name, password);
      const step = await scram(all, client);
      assert.equal(step.kind, 'user');
      assert.ok(step.kind === 'user' && step.user === name && client.isServer(step.last!));
    }
  });

  it('refuses by SCRAM-SHA-256 who does not know the password, or has no keys', async () => {
    const all = await authenticator();
    const refusal = async (user: string): Promise<unknown> => {
      const step = await scram(all, new ScramClient(user, 'wrong'));
      return step.kind === 'refused' ? step.reason : step;
    };
    assert.equal(await refusal('ann'), 'wrong password');
    assert.equal(await refusal('nobody'), 'there is no such user');
    assert.equal(await refusal('imported'), 'it has no keys for SCRAM-SHA-256: its password must be set anew');
  });

  it('does not tell by the challenge who is there', async () => {
    const all = await authenticator();
    const salts: string[] = [];
    for (const user of ['nobody', 'nobody', 'nobody2']) {
      const step = await all.begin('SCRAM-SHA-256', here)!.next(new ScramClient(user, 'x').first);
      salts.push(/s=([^,]+),i=4096$/.exec(Buffer.from((step as { challenge: Uint8Array }).challenge).toString())![1]!);
    }
    assert.equal(salts[0], salts[1]);
    assert.notEqual(salts[0], salts[2]);
    assert.equal(Buffer.from(salts[0]!, 'base64').length, 16);
  });

  it('refuses a proof that was heard before, or is changed on the way', async () => {
    const all = await authenticator();
    const client = new ScramClient('ann', 'secret');
    const one = all.begin('SCRAM-SHA-256', here)!;
    const other = all.begin('SCRAM-SHA-256', here)!;
    const challenge = ((await one.next(client.first)) as { challenge: Uint8Array }).challenge;
    await other.next(client.first);
    const final = client.final(challenge);
    assert.equal((await other.next(final)).kind, 'refused');
    const bound = Buffer.from(final.toString().replace('c=biws', 'c=eSws'));
    assert.equal((await one.next(bound)).kind, 'refused');
  });

  it('never throws, whatever is said', async () => {
    const all = await authenticator('ann');
    all.add(amqplain(all.checkPassword));
    const response = fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      fc
        .string({ unit: fc.constantFrom('n', 'y', 'p', '=', ',', 'r', 'c', '\0', 'a', 'ü') })
        .map((said) => Buffer.from(said)),
    );
    await fc.assert(
      fc.asyncProperty(response, response, fc.constantFrom(...all.offered(here)), async (first, second, name) => {
        const exchange = all.begin(name, here)!;
        if ((await exchange.next(first)).kind === 'challenge')
          assert.equal((await exchange.next(second)).kind, 'refused');
      }),
    );
  });

  it('lets guest in from this machine only, and says what to do', async () => {
    const all = await authenticator();
    const step = { kind: 'user', user: 'guest' } as const;
    assert.equal(isRefused(await all.outcome(step, here)), false);
    assert.equal(isRefused(await all.outcome(step, peerAt('::1'))), false);
    assert.equal(isRefused(await all.outcome(step, peerAt('::ffff:127.0.0.9'))), false);
    const clock = new ManualClock();
    const remote = new Authenticator({ realm: all.realm, clock, loopbackUsers: ['guest'], anonymousUser: '' });
    const refusal = remote.outcome(step, peerAt('10.0.0.1'));
    clock.advance(1000);
    const refused = await refusal;
    assert.ok(isRefused(refused));
    assert.equal(refused.reason, "user 'guest' can only connect via localhost");
    assert.match(refused.told, /add another user, or see the setting loopback-users/);
    const open = new Authenticator({ realm: all.realm, clock, loopbackUsers: [], anonymousUser: '' });
    assert.equal(isRefused(await open.outcome(step, peerAt('10.0.0.1'))), false);
  });
});

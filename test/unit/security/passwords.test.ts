import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LoginThrottle } from '../../../src/security/login-throttle.js';
import { Passwords } from '../../../src/security/passwords.js';
import { peerAt } from '../../../src/security/peer.js';
import type { Person } from '../../../src/security/realm.js';
import { ManualClock } from '../../fakes/manual-clock.js';
import { text } from './support.js';

const peer = peerAt('10.0.0.1');

async function person(passwords: Passwords, password: string): Promise<Person> {
  return { name: 'ann', tags: [], mayAll: false, proof: await passwords.credentials(password) };
}

/** Whether a promise settles without anything but promises, so without a thread of the pool. */
async function isAtOnce(work: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void work.then(() => {
    settled = true;
  });
  for (let i = 0; i < 50; i++) await Promise.resolve();
  return settled;
}

describe('passwords', () => {
  it('are hashed once for each user and password, and known after that', async () => {
    const passwords = new Passwords(new LoginThrottle(new ManualClock()));
    const ann = await person(passwords, 'secret');
    const first = passwords.check(ann, text('secret'), peer);
    assert.equal(await isAtOnce(first), false);
    assert.equal(await first, '');
    const second = passwords.check(ann, text('secret'), peer);
    assert.equal(await isAtOnce(second), true);
    assert.equal(await second, '');
    assert.equal(await passwords.check(ann, text('Secret'), peer), 'wrong password');
    assert.equal(await passwords.check(undefined, text('secret'), peer), 'there is no such user');
  });

  it('are asked for anew when the user has another one', async () => {
    const passwords = new Passwords(new LoginThrottle(new ManualClock()));
    assert.equal(await passwords.check(await person(passwords, 'old'), text('old'), peer), '');
    const changed = await person(passwords, 'new');
    assert.equal(await passwords.check(changed, text('old'), peer), 'wrong password');
    assert.equal(await passwords.check(changed, text('new'), peer), '');
  });

  it('that many ask for at once are hashed once', async () => {
    const passwords = new Passwords(new LoginThrottle(new ManualClock()));
    const ann = await person(passwords, 'secret');
    // Some hundred hashes would wait in line, and the rest be refused.
    const verdicts = await Promise.all(Array.from({ length: 1000 }, () => passwords.check(ann, text('secret'), peer)));
    assert.deepEqual([...new Set(verdicts)], ['']);
  });

  it('that are different wait for each other, up to a limit', async () => {
    const passwords = new Passwords(new LoginThrottle(new ManualClock()));
    const ann = await person(passwords, 'secret');
    const verdicts = await Promise.all(
      Array.from({ length: 155 }, (_, i) => passwords.check(ann, text(`guess ${i}`), peer)),
    );
    assert.equal(verdicts.filter((verdict) => verdict === 'too many logins at once; try again later').length, 5);
    assert.equal(verdicts.filter((verdict) => verdict === 'wrong password').length, 150);
  });

  it('that nobody has set fit nothing', async () => {
    const passwords = new Passwords(new LoginThrottle(new ManualClock()));
    const nobody: Person = {
      ...(await person(passwords, 'x')),
      proof: { ...(await passwords.credentials('x')), hash: '' },
    };
    for (const password of ['', 'x'])
      assert.equal(await passwords.check(nobody, text(password), peer), 'wrong password');
  });

  it('that are known do not wait for failures of others at the same address', async () => {
    const clock = new ManualClock();
    const throttle = new LoginThrottle(clock);
    const passwords = new Passwords(throttle);
    const ann = await person(passwords, 'secret');
    assert.equal(await passwords.check(ann, text('secret'), peer), '');
    for (let i = 0; i < 5; i++) void throttle.failed(peer.address);
    assert.equal(await isAtOnce(passwords.check(ann, text('secret'), peer)), true);
    const guess = passwords.check(ann, text('guess'), peer);
    assert.equal(await isAtOnce(guess), false);
    clock.advance(2000);
    assert.equal(await guess, 'wrong password');
  });
});

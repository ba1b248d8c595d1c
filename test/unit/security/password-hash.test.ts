import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { Hashing } from '../../../src/model/access/objects.js';
import { hashPassword, hashProblem, isPassword } from '../../../src/security/password-hash.js';
import { text } from './support.js';

/** As RabbitMQ 3.10 has it of guest, in the answer of its API. */
const guest = 'D9XVyV5PbTQjDEtlejFJEGd1IQfCnTPGQvXRHTKtoX3zKoBf';

function salted(digest: string, password: string): string {
  const salt = Buffer.from([1, 2, 3, 4]);
  return Buffer.concat([salt, createHash(digest).update(salt).update(password).digest()]).toString('base64');
}

describe('hashes of passwords', () => {
  it('fit their password and no other', async () => {
    const hash = await hashPassword(text('secret'));
    assert.match(hash, /^ln=14,r=8,p=1\$/);
    assert.equal(await isPassword(text('secret'), Hashing.scrypt, hash), true);
    assert.equal(await isPassword(text('Secret'), Hashing.scrypt, hash), false);
    assert.equal(await isPassword(text(''), Hashing.scrypt, hash), false);
    assert.notEqual(await hashPassword(text('secret')), hash);
  });

  it('are taken over from RabbitMQ', async () => {
    assert.equal(await isPassword(text('guest'), Hashing.sha256, guest), true);
    assert.equal(await isPassword(text('Guest'), Hashing.sha256, guest), false);
    for (const [hashing, digest] of [
      [Hashing.sha512, 'sha512'],
      [Hashing.md5, 'md5'],
    ] as const) {
      assert.equal(await isPassword(text('a'), hashing, salted(digest, 'a')), true);
      assert.equal(await isPassword(text('b'), hashing, salted(digest, 'a')), false);
    }
  });

  it('that are none are told from those that are, and fit nothing', async () => {
    const good = [
      [Hashing.sha256, guest],
      [Hashing.md5, salted('md5', 'a')],
      [Hashing.sha512, salted('sha512', 'a')],
      [Hashing.scrypt, await hashPassword(text('a'))],
    ] as const;
    for (const [hashing, hash] of good) assert.equal(hashProblem(hashing, hash), '');
    const bad: [string, string, RegExp][] = [
      [Hashing.sha256, 'zz', /base64 of 36 bytes/],
      [Hashing.sha256, salted('md5', 'a'), /base64 of 36 bytes/],
      [Hashing.sha256, '', /base64/],
      ['crc32', guest, /'crc32' is none of/],
      [Hashing.scrypt, guest, /no scrypt hash/],
      // An hour of work for each login.
      [Hashing.scrypt, `ln=24,r=8,p=1$AAAA$${Buffer.alloc(32).toString('base64')}`, /too costly/],
    ];
    for (const [hashing, hash, problem] of bad) assert.match(hashProblem(hashing, hash), problem);
    for (const [hashing, hash] of bad) assert.equal(await isPassword(text('a'), hashing as Hashing, hash), false);
  });
});

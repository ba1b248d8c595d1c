/**
 * Hashes of passwords: scrypt for those that are set here, RabbitMQ's for those that are imported. What takes long takes a thread of
 * the pool, never the event loop.
 */
import { createHash, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { Hashing } from '../model/access/objects.js';

/** What a password becomes. About 50 ms and 16 MiB each. */
const cost = { ln: 14, r: 8, p: 1 };
const keyBytes = 32;
const saltBytes = 16;

/** Of hashes that come from elsewhere: more would let one login take seconds. */
const costMax = { ln: 17, r: 16, p: 4 };

const digests: Readonly<Partial<Record<Hashing, string>>> = {
  [Hashing.sha256]: 'sha256',
  [Hashing.sha512]: 'sha512',
  [Hashing.md5]: 'md5',
};
/** Salt of RabbitMQ's hashes. */
const rabbitSaltBytes = 4;

/** The scrypt hash of a password, with a salt of its own. */
export async function hashPassword(password: Uint8Array): Promise<string> {
  const salt = randomBytes(saltBytes);
  const { ln, r, p } = cost;
  const key = await scryptKey(password, salt, { ln, r, p });
  return `ln=${ln},r=${r},p=${p}$${salt.toString('base64')}$${key.toString('base64')}`;
}

/** Whether the password is the one of the hash. Takes as long whether it is or not. */
export async function isPassword(password: Uint8Array, hashing: Hashing, hash: string): Promise<boolean> {
  const digest = digests[hashing];
  if (digest === undefined) {
    const parts = parseScrypt(hash);
    if (parts === undefined) return false;
    return timingSafeEqual(await scryptKey(password, parts.salt, parts.cost), parts.key);
  }
  const bytes = Buffer.from(hash, 'base64');
  const salt = bytes.subarray(0, rabbitSaltBytes);
  const expected = bytes.subarray(rabbitSaltBytes);
  const actual = createHash(digest).update(salt).update(password).digest();
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

/** '' or what is wrong with a hash that comes from elsewhere. */
export function hashProblem(hashing: string, hash: string): string {
  if (hashing === Hashing.scrypt)
    return parseScrypt(hash) === undefined ? 'it is no scrypt hash such as ln=14,r=8,p=1$salt$key, or too costly' : '';
  const digest = digests[hashing as Hashing];
  if (digest === undefined) return `'${hashing}' is none of ${Object.values(Hashing).join(', ')}`;
  const length = rabbitSaltBytes + createHash(digest).digest().length;
  const bytes = /^[A-Za-z0-9+/]+=*$/.test(hash) ? Buffer.from(hash, 'base64') : Buffer.alloc(0);
  return bytes.length === length ? '' : `a hash of ${hashing} is base64 of ${length} bytes`;
}

type Cost = typeof cost;

function parseScrypt(hash: string): { cost: Cost; salt: Buffer; key: Buffer } | undefined {
  const match = /^ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+=*)\$([A-Za-z0-9+/]+=*)$/.exec(hash);
  if (match === null) return undefined;
  const [ln, r, p] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const key = Buffer.from(match[5]!, 'base64');
  if (ln < 1 || ln > costMax.ln || r < 1 || r > costMax.r || p < 1 || p > costMax.p || key.length !== keyBytes)
    return undefined;
  return { cost: { ln, r, p }, salt: Buffer.from(match[4]!, 'base64'), key };
}

function scryptKey(password: Uint8Array, salt: Uint8Array, { ln, r, p }: Cost): Promise<Buffer> {
  const N = 2 ** ln;
  return new Promise((resolve, reject) => {
    scrypt(password, salt, keyBytes, { N, r, p, maxmem: 256 * N * r * p }, (error, key) => {
      if (error === null) resolve(key);
      else reject(error);
    });
  });
}

/** What SCRAM-SHA-256 keeps of a password (RFC 5802 §3, RFC 7677). Nobody can log in with it who has only seen it. */
import { createHash, createHmac, pbkdf2, randomBytes } from 'node:crypto';

export interface ScramKeys {
  readonly iterations: number;
  readonly salt: Buffer;
  readonly storedKey: Buffer;
  readonly serverKey: Buffer;
}

/** The least that RFC 7677 has. */
export const scramIterations = 4096;
const iterationsMax = 1_000_000;
const digestBytes = 32;
const saltBytes = 16;

export async function makeScramKeys(password: Uint8Array): Promise<ScramKeys> {
  const salt = randomBytes(saltBytes);
  const salted = await new Promise<Buffer>((resolve, reject) => {
    pbkdf2(password, salt, scramIterations, digestBytes, 'sha256', (error, key) => {
      if (error === null) resolve(key);
      else reject(error);
    });
  });
  const storedKey = sha256(hmac(salted, 'Client Key'));
  return { iterations: scramIterations, salt, storedKey, serverKey: hmac(salted, 'Server Key') };
}

/** `iterations$salt$storedKey$serverKey` (RFC 5803). */
export function formatScramKeys({ iterations, salt, storedKey, serverKey }: ScramKeys): string {
  return [iterations, ...[salt, storedKey, serverKey].map((bytes) => bytes.toString('base64'))].join('$');
}

/** Undefined if the text is no such thing. */
export function parseScramKeys(text: string): ScramKeys | undefined {
  const [count = '', ...parts] = text.split('$');
  const iterations = Number(count);
  if (!/^\d+$/.test(count) || iterations < 1 || iterations > iterationsMax || parts.length !== 3) return undefined;
  const [salt, storedKey, serverKey] = parts.map((part) => Buffer.from(part, 'base64')) as [Buffer, Buffer, Buffer];
  if (salt.length === 0 || storedKey.length !== digestBytes || serverKey.length !== digestBytes) return undefined;
  return { iterations, salt, storedKey, serverKey };
}

export function hmac(key: Uint8Array, data: string | Uint8Array): Buffer {
  return createHmac('sha256', key).update(data).digest();
}

export function sha256(data: string | Uint8Array): Buffer {
  return createHash('sha256').update(data).digest();
}

/** The client's side of SCRAM-SHA-256 (RFC 5802), written from the RFC. */
import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';

const hmac = (key: Uint8Array, data: string): Buffer => createHmac('sha256', key).update(data).digest();

export class ScramClient {
  readonly first: Buffer;
  private readonly bare: string;
  private readonly password: string;
  private signature = '';

  constructor(user: string, password: string, nonce: string = 'fyko+d2lbbFgONRv9qkxdawL') {
    this.bare = `n=${user.replaceAll('=', '=3D').replaceAll(',', '=2C')},r=${nonce}`;
    this.first = Buffer.from(`n,,${this.bare}`);
    this.password = password;
  }

  final(challenge: Uint8Array): Buffer {
    const [, nonce, salt, iterations] = /^r=([^,]+),s=([^,]+),i=(\d+)$/.exec(Buffer.from(challenge).toString())!;
    const salted = pbkdf2Sync(this.password, Buffer.from(salt!, 'base64'), Number(iterations), 32, 'sha256');
    const key = hmac(salted, 'Client Key');
    const withoutProof = `c=biws,r=${nonce}`;
    const message = `${this.bare},${Buffer.from(challenge).toString()},${withoutProof}`;
    const signature = hmac(createHash('sha256').update(key).digest(), message);
    this.signature = `v=${hmac(hmac(salted, 'Server Key'), message).toString('base64')}`;
    const proof = Buffer.from(key.map((byte, index) => byte ^ signature[index]!)).toString('base64');
    return Buffer.from(`${withoutProof},p=${proof}`);
  }

  /** Whether the broker has shown that it knows the password. */
  isServer(last: Uint8Array): boolean {
    return Buffer.from(last).toString() === this.signature;
  }
}

import { createHmac, timingSafeEqual } from 'node:crypto';

export const macBytes = 32;

/**
 * What all nodes of a cluster know and nobody else does. It proves things and never shows itself: neither printing nor JSON has it.
 * HMAC-SHA256 (RFC 2104) is computation, no port: the simulator runs it too.
 */
export class ClusterSecret {
  /** For clusters that go without: everybody has this one. */
  static readonly none: ClusterSecret = new ClusterSecret('');
  readonly #key: Uint8Array;

  constructor(text: string) {
    this.#key = new TextEncoder().encode(text);
  }

  /** True: it proves nothing, since everybody has it. */
  get isPublic(): boolean {
    return this.#key.length === 0;
  }

  /** 32 bytes that only a holder of the secret can tell, for just these `parts` in this order, each as it is cut, and this `purpose`. */
  mac(purpose: string, ...parts: readonly Uint8Array[]): Uint8Array {
    const hmac = createHmac('sha256', this.#key).update(purpose);
    const length = new Uint8Array(5);
    for (const part of parts) {
      // Its first byte, 0, is in no purpose: where that ends is as plain as where a part does.
      new DataView(length.buffer).setUint32(1, part.length, true);
      hmac.update(length).update(part);
    }
    return hmac.digest();
  }

  /** Whether `mac` is that of the same; takes the same time, however much of it is right. */
  proves(mac: Uint8Array, purpose: string, ...parts: readonly Uint8Array[]): boolean {
    return mac.length === macBytes && timingSafeEqual(mac, this.mac(purpose, ...parts));
  }
}

/**
 * How the ends of a connection prove to each other that they have the cluster's secret, before either says who it is. Who does not
 * have it sees a nonce and, if it was dialed, a proof that is good for this connection only.
 *
 *   dialer                                                   acceptor
 *          ◀── challenge: u8 version min, u8 max, nonce A ──
 *          ── answer: u8 version, nonce D, proof D ─────────▶   a wrong proof: it closes, without a word
 *          ◀── proof A ──────────────────────────────────────   likewise
 *          ── seal D, hello D ──────────────────────────────▶
 *          ◀── seal A, hello A (or decline) ─────────────────
 *
 * Proofs and seals are MACs under the secret over all that went before, so over both nonces and the versions offered; over the
 * hellos, with both ends' names and boots; and over what they are for, so over the direction. An old one is of no use with new
 * nonces (replay), one's own not in the other direction (reflection).
 *
 * What this does not do: whoever sits on the path can let the ends prove all this to each other and then speak in their place.
 * Against that there is TLS.
 */
import { FrameError } from './frame.js';
import { FrameType } from './frame-types.js';
import { type ClusterSecret, macBytes } from './cluster-secret.js';

/** Versions of what is proved, and how: the dialer takes the highest that both know. */
export const handshakeVersionMin = 1;
export const handshakeVersionMax = 1;

export const nonceBytes = 32;
const challengeBytes = 2 + nonceBytes;
const openingBytes = 1 + nonceBytes;

const Purpose = {
  dialerProof: 'understudy link: dialer has the secret',
  acceptorProof: 'understudy link: acceptor has the secret',
  dialerHello: 'understudy link: dialer is',
  acceptorHello: 'understudy link: acceptor is',
} as const;

/** A frame to send. */
export interface Said {
  type: FrameType;
  payload: Uint8Array;
}

/** One end's part, for one connection. What it cannot accept is a FrameError. */
export class Handshake {
  private readonly secret: ClusterSecret;
  private readonly dialed: boolean;
  private readonly nonce: Uint8Array;
  /** Type of the frame that has to come next; undefined: the other end has proved that it has the secret. */
  private awaited: FrameType | undefined;
  /** As they were sent or received: the challenge, the answer without its proof, the dialer's hello. */
  private challenge: Uint8Array = new Uint8Array(0);
  private opening: Uint8Array = new Uint8Array(0);
  private dialerHello: Uint8Array = new Uint8Array(0);

  /** @param nonce 32 bytes that were never used before */
  constructor(secret: ClusterSecret, dialed: boolean, nonce: Uint8Array) {
    this.secret = secret;
    this.dialed = dialed;
    this.nonce = nonce;
    this.awaited = dialed ? FrameType.challenge : FrameType.answer;
  }

  /** What is to be said at once; undefined: the other end begins. */
  begin(): Said | undefined {
    if (this.dialed) return undefined;
    this.challenge = joined(Uint8Array.of(handshakeVersionMin, handshakeVersionMax), this.nonce);
    return { type: FrameType.challenge, payload: this.challenge };
  }

  /** True: the other end has the secret, and hellos may be sent. */
  get proven(): boolean {
    return this.awaited === undefined;
  }

  /** What it means that the other end closes the connection now: words to follow "closed". */
  get whyClosed(): string {
    if (this.awaited === FrameType.challenge)
      return ' before it said anything: does it use TLS, and take our certificate?';
    if (this.awaited === FrameType.proof) return ' on our proof of the cluster secret: it has another one';
    return '';
  }

  /** Whether this payload of a challenge is our own. */
  issued(challenge: Uint8Array): boolean {
    return !this.dialed && equal(challenge, this.challenge);
  }

  /** A frame that came before the proof is complete. Returns what to answer. */
  take(type: number, payload: Uint8Array): Said | undefined {
    if (type !== this.awaited) throw new FrameError(`frame type ${type} before the cluster secret was proved`);
    if (type === FrameType.challenge) return this.answer(payload);
    if (type === FrameType.answer) return this.confirm(payload);
    this.check(payload, Purpose.acceptorProof);
    this.awaited = undefined;
    return undefined;
  }

  /** The payload of our hello. The acceptor's comes second. */
  seal(hello: Uint8Array): Uint8Array {
    if (this.dialed) this.dialerHello = hello;
    return joined(this.secret.mac(...this.helloParts(this.dialed, hello)), hello);
  }

  /** The hello in the other end's payload. */
  unseal(payload: Uint8Array): Uint8Array {
    const hello = payload.slice(macBytes);
    const parts = this.helloParts(!this.dialed, hello);
    if (!this.secret.proves(payload.subarray(0, macBytes), ...parts))
      throw new FrameError('the seal of a hello is wrong');
    if (!this.dialed) this.dialerHello = hello;
    return hello;
  }

  private answer(payload: Uint8Array): Said {
    if (payload.length < challengeBytes) throw new FrameError('a challenge that is cut short');
    const [min, max] = payload as unknown as [number, number];
    const version = Math.min(max, handshakeVersionMax);
    if (version < Math.max(min, handshakeVersionMin)) throw wrongVersion(`${min} to ${max}`);
    this.challenge = payload.slice();
    this.opening = joined(Uint8Array.of(version), this.nonce);
    this.awaited = FrameType.proof;
    const proof = this.secret.mac(Purpose.dialerProof, this.challenge, this.opening);
    return { type: FrameType.answer, payload: joined(this.opening, proof) };
  }

  private confirm(payload: Uint8Array): Said {
    const version = payload[0];
    if (version === undefined || payload.length < openingBytes + macBytes)
      throw new FrameError('an answer that is cut short');
    if (version < handshakeVersionMin || version > handshakeVersionMax) throw wrongVersion(String(version));
    this.opening = payload.slice(0, openingBytes);
    this.check(payload.subarray(openingBytes), Purpose.dialerProof);
    this.awaited = undefined;
    return { type: FrameType.proof, payload: this.secret.mac(Purpose.acceptorProof, this.challenge, this.opening) };
  }

  private check(proof: Uint8Array, purpose: string): void {
    if (this.secret.proves(proof.subarray(0, macBytes), purpose, this.challenge, this.opening)) return;
    throw new FrameError('its proof of the cluster secret is wrong: it has another secret, or none');
  }

  /** What the seal of the dialer's, or the acceptor's, hello is over. */
  private helloParts(dialers: boolean, hello: Uint8Array): [purpose: string, ...parts: Uint8Array[]] {
    const { challenge, opening } = this;
    if (dialers) return [Purpose.dialerHello, challenge, opening, hello];
    return [Purpose.acceptorHello, challenge, opening, this.dialerHello, hello];
  }
}

function wrongVersion(theirs: string): FrameError {
  return new FrameError(
    `it proves the cluster secret by version ${theirs}, we by ${handshakeVersionMin} to ${handshakeVersionMax}`,
  );
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

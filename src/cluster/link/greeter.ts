import type { Clock, Timer } from '../../base/clock.js';
import type { Random } from '../../base/random.js';
import type { SpokenVersions, VersionRange } from '../../base/versions.js';
import type { ClusterSecret } from './cluster-secret.js';
import { type Frame, FrameError } from './frame.js';
import { FrameType } from './frame-types.js';
import { Handshake, nonceBytes, type Said } from './handshake.js';
import { decodeHello, decodeText, encodeHello, encodeText, judgeHello, type LinkIdentity } from './hello.js';
import type { Link } from './link.js';

/** Accepted connections that have not said hello yet; one more and the oldest of them is closed. */
const strangersMax = 128;

export interface GreeterOptions {
  self: LinkIdentity;
  /** What this node speaks, and what the cluster speaks now. */
  versions: VersionRange;
  spoken(): SpokenVersions;
  secret: ClusterSecret;
  clock: Clock;
  random: Random;
  /** From connection to hello. */
  helloTimeoutMs: number;
  /** The peer said hello and can be talked to: why it gets no link all the same; '' = it does. */
  decline(link: Link): string;
  /** Hellos were exchanged: takes the link. */
  admit(link: Link): void;
  /** We will not talk to the other end, or it not to us. */
  refused(link: Link, node: string, reason: string): void;
}

/** How far a connection has come that is not admitted. */
export interface Greeting {
  /** The node that was dialed; '' for an accepted connection. */
  expected: string;
  /** Words to follow "closed", if the other end closes it now. */
  whyClosed: string;
}

interface Stranger {
  timer: Timer;
  expected: string;
  handshake: Handshake;
}

/**
 * The first frames of a connection. First both ends prove that they have the cluster's secret; who cannot is told nothing, not even
 * why. Then whoever dialed says hello, and the other end answers with its own, or with the reason why it will not talk.
 */
export class Greeter {
  private readonly options: GreeterOptions;
  private readonly strangers = new Map<Link, Stranger>();

  constructor(options: GreeterOptions) {
    this.options = options;
  }

  /** @param expected the node that was dialed; '' for an accepted connection. */
  begin(link: Link, expected: string): void {
    const { clock, helloTimeoutMs, secret, random } = this.options;
    if (expected === '') this.makeRoom();
    const timer = clock.after(helloTimeoutMs, () => link.close('timeout', `no hello within ${helloTimeoutMs} ms`));
    const handshake = new Handshake(secret, link.dialed, bytesOf(random.hex(2 * nonceBytes)));
    this.strangers.set(link, { timer, expected, handshake });
    this.say(link, handshake.begin());
  }

  /** The link's first frame, and whatever comes before it is admitted. */
  frame(link: Link, frame: Frame): void {
    const stranger = this.strangers.get(link);
    const payload = frame.bytes.subarray(frame.start, frame.end);
    if (!stranger) throw new FrameError('a frame from an end that was declined');
    const { handshake, expected } = stranger;
    if (!handshake.proven) return this.prove(link, handshake, frame.type, payload);
    if (frame.type === FrameType.decline) return this.part(link, expected, decodeText(payload));
    const hello = frame.type === FrameType.hello ? decodeHello(handshake.unseal(payload)) : null;
    if (!hello) throw new FrameError(`frame type ${frame.type} is no hello`);
    link.greet(hello);
    const reason = this.judge(link, expected) || this.options.decline(link);
    if (reason !== '') {
      this.say(link, { type: FrameType.decline, payload: encodeText(reason) });
      return this.part(link, expected || hello.node, reason);
    }
    this.forget(link);
    if (!link.dialed) this.sayHello(link, handshake);
    this.options.admit(link);
  }

  /** How far the link had come; undefined if it is no stranger any more. */
  forget(link: Link): Greeting | undefined {
    const stranger = this.strangers.get(link);
    if (!stranger) return undefined;
    stranger.timer.cancel();
    this.strangers.delete(link);
    return { expected: stranger.expected, whyClosed: stranger.handshake.whyClosed };
  }

  close(): void {
    for (const link of [...this.strangers.keys()]) link.close('closed', 'this node stops');
  }

  /** Ends that never speak must not keep out nodes: those need milliseconds. */
  private makeRoom(): void {
    let accepted = 0;
    let oldest: Link | undefined;
    for (const [link, { expected }] of this.strangers) {
      if (expected !== '') continue;
      oldest ??= link;
      accepted++;
    }
    if (accepted >= strangersMax) oldest?.close('closed', 'too many connections');
  }

  private prove(link: Link, handshake: Handshake, type: number, payload: Uint8Array): void {
    // Answered, it would let somebody in between who has us talk to ourselves.
    if (type === FrameType.challenge && this.isOurs(payload)) throw new FrameError('this node itself answers there');
    this.say(link, handshake.take(type, payload));
    if (handshake.proven && link.dialed) this.sayHello(link, handshake);
  }

  private isOurs(challenge: Uint8Array): boolean {
    for (const { handshake } of this.strangers.values()) if (handshake.issued(challenge)) return true;
    return false;
  }

  private judge(link: Link, expected: string): string {
    if (expected !== '' && link.peer.node !== expected)
      return `${link.peer.node} answers at the address of ${expected}`;
    return judgeHello(this.options.self, this.options.versions, this.options.spoken(), link.peer);
  }

  private part(link: Link, node: string, reason: string): void {
    this.options.refused(link, node, reason);
    link.close('closed', reason);
  }

  private sayHello(link: Link, handshake: Handshake): void {
    this.say(link, {
      type: FrameType.hello,
      payload: handshake.seal(encodeHello(this.options.self, this.options.versions)),
    });
  }

  private say(link: Link, said: Said | undefined): void {
    if (said === undefined) return;
    link.send(said.type, 0, said.payload);
    link.flush();
  }
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_, i) => Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16));
}

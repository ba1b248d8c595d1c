import type { Clock, Timer } from '../../base/clock.js';
import { type Frame, FrameError } from './frame.js';
import { FrameType } from './frame-types.js';
import { decodeHello, decodeText, encodeHello, encodeText, judgeHello, type LinkIdentity } from './hello.js';
import type { Link } from './link.js';

/** Accepted connections that have not said hello yet. */
const strangersMax = 128;

export interface GreeterOptions {
  self: LinkIdentity;
  clock: Clock;
  /** From connection to hello. */
  helloTimeoutMs: number;
  /** The peer said hello and can be talked to: why it gets no link all the same; '' = it does. */
  decline(link: Link): string;
  /** Hellos were exchanged: takes the link. */
  admit(link: Link): void;
  /** We will not talk to the other end, or it not to us. */
  refused(link: Link, node: string, reason: string): void;
}

interface Stranger {
  timer: Timer;
  /** The node that was dialed; '' for an accepted connection. */
  expected: string;
}

/**
 * The first frames of a connection: whoever dialed says hello first, the other end answers with its own hello, or with the
 * reason why it will not talk.
 */
export class Greeter {
  private readonly options: GreeterOptions;
  private readonly strangers = new Map<Link, Stranger>();

  constructor(options: GreeterOptions) {
    this.options = options;
  }

  /** @param expected the node that was dialed; '' for an accepted connection. */
  begin(link: Link, expected: string): void {
    const { clock, helloTimeoutMs, self } = this.options;
    if (expected === '' && this.strangers.size >= strangersMax) return link.close('closed', 'too many connections');
    const timer = clock.after(helloTimeoutMs, () => link.close('timeout', `no hello within ${helloTimeoutMs} ms`));
    this.strangers.set(link, { timer, expected });
    if (link.dialed) this.say(link, FrameType.hello, encodeHello(self));
  }

  /** The link's first frame, and whatever comes before it is admitted. */
  frame(link: Link, frame: Frame): void {
    const stranger = this.strangers.get(link);
    const payload = frame.bytes.subarray(frame.start, frame.end);
    if (!stranger) throw new FrameError('a frame from an end that was declined');
    if (frame.type === FrameType.decline) return this.part(link, stranger.expected, decodeText(payload));
    const hello = frame.type === FrameType.hello ? decodeHello(payload) : null;
    if (!hello) throw new FrameError(`frame type ${frame.type} is no hello`);
    link.greet(hello);
    const reason = this.judge(link, stranger.expected) || this.options.decline(link);
    if (reason !== '') {
      this.say(link, FrameType.decline, encodeText(reason));
      return this.part(link, stranger.expected || hello.node, reason);
    }
    this.forget(link);
    if (!link.dialed) this.say(link, FrameType.hello, encodeHello(this.options.self));
    this.options.admit(link);
  }

  /** Whom this link was to reach; undefined if it is no stranger any more. */
  forget(link: Link): string | undefined {
    const stranger = this.strangers.get(link);
    stranger?.timer.cancel();
    this.strangers.delete(link);
    return stranger?.expected;
  }

  close(): void {
    for (const link of [...this.strangers.keys()]) link.close('closed', 'this node stops');
  }

  private judge(link: Link, expected: string): string {
    if (expected !== '' && link.peer.node !== expected)
      return `${link.peer.node} answers at the address of ${expected}`;
    return judgeHello(this.options.self, link.peer);
  }

  private part(link: Link, node: string, reason: string): void {
    this.options.refused(link, node, reason);
    link.close('closed', reason);
  }

  private say(link: Link, type: number, payload: Uint8Array): void {
    link.send(type, 0, payload);
    link.flush();
  }
}

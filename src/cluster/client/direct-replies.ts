/**
 * Replies to waiting clients of any node (model/replies.ts). An address names the boot that knows its client, which of its clients that
 * is, and a secret:
 *
 *   amq.rabbitmq.reply-to.BOOT.NUMBER.SECRET
 *
 * A reply goes to that boot in one frame, and from there to the client; to nowhere if there is no link, or one that takes no more now.
 *
 * Frames, since version 3 (group 0; TOKEN: what follows the prefix, in ASCII)
 *   reply        0 u16 n   2 n bytes TOKEN   2 + n enqueue record without queues
 *   replyAsk     0 u32 question   4 TOKEN
 *   replyAnswer  0 u32 question   4 u8 1 = somebody waits there
 */
import type { Clock } from '../../base/clock.js';
import { Refusal, RefusedError } from '../../base/errors.js';
import type { Random } from '../../base/random.js';
import type { Rules } from '../../base/rules.js';
import { Feature } from '../../base/versions.js';
import { encodeEnqueue, enqueueHeaderBytes, enqueueLength, EnqueueView, type MessageParts } from '../../log/record.js';
import { type Replies, type ReplyAddress, replyPrefix, replyQueue, type ReplySink } from '../../model/replies.js';
import { type Frame, FrameError } from '../link/frame.js';
import type { Link } from '../link/link.js';
import type { Links } from '../link/links.js';
import { decodeText, encodeText, FrameType } from './frames.js';

/** Characters of a secret: 128 bits. */
const secretLength = 32;
/** A question that another node does not answer in this time is answered with no. */
const answerMs = 5000;
const noQueues: readonly number[] = [];

export interface DirectRepliesOptions {
  boot: number;
  /** Undefined for a broker that is alone. */
  links: Links | undefined;
  random: Random;
  clock: Clock;
  rules: Rules;
  /** The protocol version in use. */
  version(): number;
}

export class DirectReplies implements Replies {
  private readonly options: DirectRepliesOptions;
  /** By token. */
  private readonly sinks = new Map<string, ReplySink>();
  private readonly questions = new Map<number, (exists: boolean) => void>();
  private readonly view = new EnqueueView();
  private lastNumber = 0;
  private lastQuestion = 0;

  constructor(options: DirectRepliesOptions) {
    this.options = options;
    const { links } = options;
    links?.handle(FrameType.reply, (_link, frame) => this.received(frame));
    links?.handle(FrameType.replyAsk, (link, frame) => this.asked(link, frame));
    links?.handle(FrameType.replyAnswer, (_link, { bytes, view, start }) =>
      this.questions.get(view.getUint32(start, true))?.(bytes[start + 4] === 1),
    );
  }

  open(sink: ReplySink): ReplyAddress {
    const { links, random, boot, version } = this.options;
    if (links !== undefined && version() < Feature.directReplies) {
      const text = `${replyQueue}: there are nodes of an older program, which know no direct replies; bring all to this one first`;
      throw new RefusedError(Refusal.notImplemented, text);
    }
    const token = `${boot}.${++this.lastNumber}.${random.hex(secretLength)}`;
    this.sinks.set(token, sink);
    const close = (): void => {
      if (this.options.rules.repliesEnd) this.sinks.delete(token);
    };
    return { text: replyPrefix + token, close };
  }

  async exists(address: string): Promise<boolean> {
    const token = address.slice(replyPrefix.length);
    if (this.sinks.has(token)) return true;
    const link = this.linkTo(token);
    if (link === undefined) return false;
    const question = ++this.lastQuestion;
    const bytes = encodeText(token);
    const out = link.beginFrame(FrameType.replyAsk, 0, 4 + bytes.length, Feature.directReplies);
    out.view.setUint32(out.offset, question, true);
    out.bytes.set(bytes, out.offset + 4);
    return new Promise((resolve) => {
      const answer = (exists: boolean): void => {
        timer.cancel();
        this.questions.delete(question);
        resolve(exists);
      };
      const timer = this.options.clock.after(answerMs, () => answer(false));
      this.questions.set(question, answer);
    });
  }

  /** Sends a message to an address. Its bytes are copied before this returns. */
  send(address: string, parts: MessageParts): void {
    const token = address.slice(replyPrefix.length);
    const sink = this.sinks.get(token);
    const length = enqueueLength(parts, 0);
    if (sink !== undefined) {
      const bytes = new Uint8Array(length);
      const view = new DataView(bytes.buffer);
      encodeEnqueue(bytes, view, 0, parts, noQueues, false, 0, 0);
      sink.reply(this.view.set(bytes, view, 0));
      return;
    }
    const link = this.linkTo(token);
    if (link === undefined || link.congested) return;
    const text = encodeText(token);
    const out = link.beginFrame(FrameType.reply, 0, 2 + text.length + length, Feature.directReplies);
    out.view.setUint16(out.offset, text.length, true);
    out.bytes.set(text, out.offset + 2);
    encodeEnqueue(out.bytes, out.view, out.offset + 2 + text.length, parts, noQueues, false, 0, 0);
  }

  /** The link to the boot that the token names, if it is another one and there is one. */
  private linkTo(token: string): Link | undefined {
    const boot = Number(token.slice(0, token.indexOf('.')));
    for (const link of this.options.links?.all() ?? []) if (link.peer.boot === boot) return link;
    return undefined;
  }

  private received({ bytes, view, start, end }: Frame): void {
    const at = start + 2 + view.getUint16(start, true);
    if (at + enqueueHeaderBytes > end) throw new FrameError('a reply is cut short');
    const message = this.view.set(bytes, view, at);
    if (message.bodyStart + message.bodyLength !== end) throw new FrameError('a reply is cut short, or too long');
    this.sinks.get(decodeText(bytes, start + 2, at))?.reply(message);
  }

  private asked(link: Link, { bytes, view, start, end }: Frame): void {
    const exists = this.sinks.has(decodeText(bytes, start + 4, end));
    const out = link.beginFrame(FrameType.replyAnswer, 0, 5, Feature.directReplies);
    out.view.setUint32(out.offset, view.getUint32(start, true), true);
    out.bytes[out.offset + 4] = exists ? 1 : 0;
  }
}

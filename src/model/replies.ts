/**
 * Messages straight to a client that waits for them, without a queue (RabbitMQ's direct reply-to). A client opens an address, and whoever
 * knows it publishes there, over the default exchange, through any node. Nothing of it is stored, and nothing is promised: a reply is
 * delivered at most once, and is gone if its client is, or does not read.
 */
import type { EnqueueView } from '../log/record.js';

/** The pseudo-queue that clients consume from, and name as `reply-to`. */
export const replyQueue = 'amq.rabbitmq.reply-to';
/** What addresses begin with. */
export const replyPrefix: string = `${replyQueue}.`;

export interface ReplySink {
  /** The view is valid during the call only. */
  reply(message: EnqueueView): void;
}

/** A place to which replies can be sent, by whoever was told of it: it cannot be guessed. */
export interface ReplyAddress {
  /** A routing key of the default exchange. */
  readonly text: string;
  /** What comes from now on goes nowhere. */
  close(): void;
}

export interface Replies {
  /** Throws RefusedError not-implemented while there are nodes that do not know of replies. */
  open(sink: ReplySink): ReplyAddress;
  /** Does anybody wait there? */
  exists(address: string): Promise<boolean>;
}

import { encodeEnqueue, enqueueLength, EnqueueView, type MessageParts } from '../../src/log/record.js';
import { type Replies, type ReplyAddress, replyPrefix, type ReplySink } from '../../src/model/replies.js';

/** Replies of one broker, with addresses that can be guessed. */
export class FakeReplies implements Replies {
  readonly sinks: Map<string, ReplySink> = new Map();
  private last = 0;

  open(sink: ReplySink): ReplyAddress {
    const text = `${replyPrefix}${++this.last}`;
    this.sinks.set(text, sink);
    return { text, close: () => void this.sinks.delete(text) };
  }

  exists(address: string): Promise<boolean> {
    return Promise.resolve(this.sinks.has(address));
  }

  send(address: string, parts: MessageParts): void {
    const bytes = new Uint8Array(enqueueLength(parts, 0));
    const view = new DataView(bytes.buffer);
    encodeEnqueue(bytes, view, 0, parts, [], false, 0, 0);
    this.sinks.get(address)?.reply(new EnqueueView().set(bytes, view, 0));
  }
}

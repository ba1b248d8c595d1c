import { fitShortString } from './strings.js';
import { isHardError, replyCodeName } from './generated/reply-codes.js';

/**
 * What a peer did against the protocol: a reply code of §1.2 with its text. `hard`: the connection ends, else the channel.
 * `methodId`: the method it came with, (class id << 16) | method id, 0 if none.
 */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
  readonly code: number;
  readonly methodId: number;

  constructor(code: number, message: string, methodId = 0) {
    super(message);
    this.code = code;
    this.methodId = methodId;
  }

  get hard(): boolean {
    return isHardError(this.code);
  }

  /** The reply text for the peer, as RabbitMQ writes it: `NOT_FOUND - no queue 'q' in vhost '/'`. At most 255 bytes. */
  get replyText(): string {
    return fitShortString(`${replyCodeName(this.code)} - ${this.message}`);
  }
}

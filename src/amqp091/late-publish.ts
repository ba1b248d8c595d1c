import type { MessageParts } from '../log/record.js';
import type { PublishOwner } from '../model/broker.js';
import { MethodId, ProtocolError } from './codec/index.js';
import type { ConfirmLedger } from './confirm-ledger.js';
import { toProtocolError } from './errors.js';

/**
 * Owns a channel's publishes while it is not known where they go (`Route.isKnown`): what else is told at once comes when it is: that
 * one leads nowhere, or must not be.
 */
export class LatePublish implements PublishOwner {
  private readonly confirms: ConfirmLedger | null;
  private readonly returned: ((message: MessageParts) => void) | undefined;
  private readonly refuse: (error: ProtocolError) => void;

  /**
   * @param confirms null: the channel is not in confirm mode
   * @param returned takes a message that leads nowhere; undefined: it is not `mandatory`
   * @param refuse ends the channel
   */
  constructor(
    confirms: ConfirmLedger | null,
    returned: ((message: MessageParts) => void) | undefined,
    refuse: (error: ProtocolError) => void,
  ) {
    this.confirms = confirms;
    this.returned = returned;
    this.refuse = refuse;
  }

  completed(tag: number): void {
    this.confirms?.completed(tag);
  }

  refused(tag: number): void {
    this.confirms?.refused(tag);
  }

  unroutable(_tag: number, message: MessageParts): void {
    this.returned?.(message);
  }

  failed(_tag: number, error: Error): void {
    const { code, message } = toProtocolError(error);
    this.refuse(new ProtocolError(code, message, MethodId.basicPublish));
  }
}

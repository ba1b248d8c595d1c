import { DecodeError } from '../../wire/decode-error.js';
import { Condition } from './generated/conditions.js';
import { ErrorFields } from './generated/states.js';
import type { MapValue } from './values.js';

/** What a peer did against the protocol, or what it cannot have: a condition with its text. Which level it ends depends on where it happened. */
export class AmqpError extends Error {
  override readonly name = 'AmqpError';
  readonly condition: Condition;
  readonly info: MapValue | undefined;

  constructor(condition: Condition, message: string, info?: MapValue) {
    super(message);
    this.condition = condition;
    this.info = info;
  }

  /** As the peer is told. */
  get fields(): ErrorFields {
    const fields = new ErrorFields();
    fields.condition = this.condition;
    fields.description = this.message;
    fields.info = this.info;
    return fields;
  }
}

/** Bytes that are no values are a decode-error; anything else stays what it is. @param what was being decoded */
export function decodeFailure(error: unknown, what: string): unknown {
  if (!(error instanceof DecodeError)) return error;
  return new AmqpError(Condition.decodeError, `cannot decode ${what}: ${error.message}`);
}

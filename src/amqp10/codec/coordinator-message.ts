import { ByteReader } from '../../wire/byte-reader.js';
import { AmqpError, decodeFailure } from './amqp-error.js';
import { FieldReader, readDescriptor } from './field-reader.js';
import { Condition } from './generated/conditions.js';
import { Descriptor } from './generated/descriptors.js';
import { type CoordinatorMessage, decodeCoordinatorMessage } from './generated/transactions.js';
import { MessageView } from './message-view.js';

const view = new MessageView();

/** The declare or discharge that a message to the coordinator has as its amqp-value (§4.2, §4.3). Throws AmqpError. */
export function coordinatorMessageIn(bytes: Uint8Array): CoordinatorMessage {
  const { bodyStart, bodyKind, end } = view.set(bytes, 0, bytes.length);
  if (bodyKind !== Descriptor.amqpValue)
    throw new AmqpError(Condition.invalidField, 'a message to the coordinator whose body is no amqp-value');
  try {
    const reader = new ByteReader(bytes, bodyStart + 1, end);
    readDescriptor(reader);
    const fields = new FieldReader(reader);
    const message = decodeCoordinatorMessage(fields.begin(), fields);
    if (message !== undefined) return message;
  } catch (error) {
    throw decodeFailure(error, 'a message to the coordinator');
  }
  throw new AmqpError(Condition.invalidField, 'a message to the coordinator that is neither declare nor discharge');
}

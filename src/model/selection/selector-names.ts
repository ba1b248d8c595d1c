/**
 * What an identifier of a selector names. JMS's headers are as Qpid has them (AMQP to JMS mapping §3.2); `amqp.` and a field's name,
 * with `_` or `-` in it, is that field (as in Qpid C++); everything else is an application property.
 */
import { type MessageField, type MessageFields, messageFields, type SelectorValue } from './message-fields.js';

export type Reading = (message: MessageFields) => SelectorValue;

const jmsFields: Readonly<Record<string, MessageField>> = {
  JMSMessageID: 'message-id',
  JMSCorrelationID: 'correlation-id',
  JMSPriority: 'priority',
  JMSTimestamp: 'creation-time',
  JMSType: 'subject',
  JMSDestination: 'to',
  JMSReplyTo: 'reply-to',
  JMSExpiration: 'absolute-expiry-time',
  JMSXUserID: 'user-id',
  JMSXGroupID: 'group-id',
  JMSXGroupSeq: 'group-sequence',
};
const prefix = 'amqp.';
const known: ReadonlySet<string> = new Set(messageFields);

export function readingOf(name: string): Reading {
  if (name === 'JMSDeliveryMode') return deliveryMode;
  const jms = Object.hasOwn(jmsFields, name) ? jmsFields[name] : undefined;
  if (jms !== undefined) return (message) => message.field(jms);
  if (name.startsWith(prefix)) {
    const field = name.slice(prefix.length).replaceAll('_', '-');
    if (known.has(field)) return (message) => message.field(field as MessageField);
  }
  return (message) => message.property(name);
}

/** JMS 2.0 §3.8.1.1 */
function deliveryMode(message: MessageFields): SelectorValue {
  return message.field('durable') === true ? 'PERSISTENT' : 'NON_PERSISTENT';
}

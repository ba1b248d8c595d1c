import { MessageFormat } from '../../log/message-format.js';
import type { EnqueueView } from '../../log/record.js';
import type { HeaderCodec } from './death.js';

/** Messages' headers in the encodings of both protocols: each message is asked in its own. */
export function headersByFormat(amqp091: HeaderCodec, amqp10: HeaderCodec): HeaderCodec {
  const of = ({ format }: EnqueueView): HeaderCodec => (format === MessageFormat.amqp10 ? amqp10 : amqp091);
  return {
    note: (message, death) => of(message).note(message, death),
    isCircle: (message, queue) => of(message).isCircle(message, queue),
    table: (message) => of(message).table(message),
    moreKeys: (message) => of(message).moreKeys(message),
    properties: (message) => of(message).properties(message),
    delayed: (message) => of(message).delayed(message),
    annotated: (message, annotations) => of(message).annotated(message, annotations),
    ttlMs: (message) => of(message).ttlMs(message),
    fields: (message) => of(message).fields(message),
  };
}

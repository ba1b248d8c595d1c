/**
 * What the model has done with the heads of messages of AMQP 1.0, which it does not read itself. Deaths are noted as RabbitMQ does: in the
 * annotation `x-opt-deaths`, the last one first, one for each queue and reason, with a count; `x-first-death-*` and `x-last-death-*` tell
 * of the first and the last. The ttl goes.
 */
import { annotationsIn } from '../conversion/annotations.js';
import { type DeathRecord, deathAnnotation, deathsInAnnotation, toDeathAnnotation } from '../conversion/deaths.js';
import { Annotation } from '../conversion/names.js';
import { toArguments, uuidText } from '../conversion/values.js';
import type { EnqueueView } from '../log/record.js';
import type { Arguments, MessageProperty, Properties } from '../model/broker.js';
import { type Death, DeathReason, type HeaderCodec } from '../model/dead-letter/death.js';
import { delayHeader, delayIn } from '../model/delay/delay-header.js';
import { decodeLooseText } from '../wire/utf8.js';
import { ArrayValue, MapValue, type MessageView, Scalar, symbol, textOf, type Value } from './codec/index.js';
import { MessageView as View } from './codec/message-view.js';
import { rewriteHead } from './head-rewrite.js';
import { SelectedFields } from './selected-fields.js';

const view = new View();
const fields = new SelectedFields();

function viewOf({ bytes, headerStart, headerLength, bodyLength }: EnqueueView): MessageView {
  return view.set(bytes, headerStart, headerStart + headerLength + bodyLength);
}

/** The annotations, and application properties with the same names before them. */
export function headersOf(message: MessageView): Arguments {
  return { ...toArguments(message.keptAnnotations()), ...toArguments(message.keptApplicationProperties()) };
}

/** Routing keys besides the message's own: the annotation `x-cc`, a list of texts. What is no text is passed over. */
export function moreKeysOf(message: MessageView): readonly string[] {
  const list = message.keptAnnotations().get(Annotation.carbonCopies);
  const keys = list instanceof ArrayValue ? list.elements : Array.isArray(list) ? list : [];
  return keys.map(textOf).filter((key) => key !== undefined);
}

/** What exchanges may ask for. */
export function propertyText(message: MessageView, name: MessageProperty): string {
  const properties = message.keptProperties();
  if (properties === undefined) return '';
  if (name === 'timestamp')
    return properties.creationTime === undefined ? '' : String(Math.floor(properties.creationTime / 1000));
  return identifierText(name === 'message_id' ? properties.messageId : properties.correlationId);
}

function identifierText(value: Value | undefined): string {
  if (value instanceof Uint8Array) return decodeLooseText(value, 0, value.length);
  if (value instanceof Scalar) return value.type === 'uuid' ? uuidText(value.value as Uint8Array) : String(value.value);
  return typeof value === 'string' ? value : '';
}

export const headerCodec10: HeaderCodec = {
  note(message, death) {
    const head = viewOf(message);
    const record = deathOf(message, death, head.ttlMs);
    return rewriteHead(head, { annotations: withDeath(head.keptAnnotations(), record, death), dropsTtl: true });
  },

  isCircle(message, queue) {
    const list = deathsInAnnotation(viewOf(message).keptAnnotations().get(deathAnnotation));
    const last = list.findIndex((one) => one.queue === queue);
    if (last < 0) return false;
    return list.slice(0, last + 1).every((one) => one.reason !== DeathReason.rejected);
  },

  table: (message) => headersOf(viewOf(message)),
  moreKeys: (message) => moreKeysOf(viewOf(message)),
  properties: (message): Properties => {
    return (name) => propertyText(viewOf(message), name);
  },

  delayed(message) {
    const head = viewOf(message);
    const delay = delayIn(headersOf(head)) ?? 0;
    const annotations = withEntries(head.keptAnnotations(), { [delayHeader]: new Scalar('long', BigInt(-delay)) });
    return rewriteHead(head, { annotations, dropsTtl: false });
  },

  fields: (message) => fields.set(message),

  annotated(message, annotations) {
    const head = viewOf(message);
    return rewriteHead(head, {
      annotations: withEntries(head.keptAnnotations(), annotationsIn(annotations)),
      dropsTtl: false,
    });
  },

  ttlMs(message) {
    const { ttlMs } = viewOf(message);
    return ttlMs < 0 ? undefined : ttlMs;
  },
};

function deathOf(message: EnqueueView, { reason, queue, time }: Death, ttlMs: number): DeathRecord {
  const { bytes, metaStart } = message;
  const keyAt = metaStart + 1 + bytes[metaStart]!;
  return {
    reason,
    queue,
    count: 1n,
    firstTime: time * 1000,
    lastTime: time * 1000,
    exchange: decodeLooseText(bytes, metaStart + 1, keyAt),
    routingKeys: [decodeLooseText(bytes, keyAt + 1, keyAt + 1 + bytes[keyAt]!)],
    ttlMs: ttlMs < 0 ? undefined : ttlMs,
  };
}

function withDeath(annotations: MapValue, death: DeathRecord, { isReaddressed }: Death): MapValue {
  const list = deathsInAnnotation(annotations.get(deathAnnotation));
  const known = list.find((one) => one.queue === death.queue && one.reason === death.reason);
  const now = known === undefined ? death : { ...known, count: known.count + 1n, lastTime: death.lastTime };
  const changed: Record<string, Value> = {
    [deathAnnotation]: toDeathAnnotation([now, ...list.filter((one) => one !== known)]),
    'x-last-death-queue': death.queue,
    'x-last-death-reason': death.reason,
    'x-last-death-exchange': death.exchange,
  };
  if (annotations.get('x-first-death-queue') === undefined) {
    changed['x-first-death-queue'] = death.queue;
    changed['x-first-death-reason'] = death.reason;
    changed['x-first-death-exchange'] = death.exchange;
  }
  return withEntries(annotations, changed, isReaddressed ? Annotation.carbonCopies : undefined);
}

/** The annotations with others in the place of those of the same names. */
function withEntries(from: MapValue, changed: Readonly<Record<string, Value>>, without?: string): MapValue {
  const kept = from.entries.filter(([key]) => {
    const name = textOf(key);
    return name === undefined || (!Object.hasOwn(changed, name) && name !== without);
  });
  const added = Object.entries(changed).map(([name, value]): [Value, Value] => [symbol(name), value]);
  return new MapValue([...kept, ...added]);
}

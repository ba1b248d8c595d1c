/** What the model has done with the headers of AMQP 0-9-1 messages, which it does not read itself. */
import { annotationHeaders } from '../conversion/annotations.js';
import type { EnqueueView } from '../log/record.js';
import type { MessageProperty, Properties } from '../model/broker.js';
import type { HeaderCodec } from '../model/dead-letter/death.js';
import { delayHeader, delayIn } from '../model/delay/delay-header.js';
import { keptKeys, shownHeaders } from './carbon-copies.js';
import { PropertyView } from './codec/property-view.js';
import { deathHeaders } from './death-headers.js';
import { rewriteHeaders } from './header-rewrite.js';
import { SelectedFields } from './selected-fields.js';

const view = new PropertyView();
const fields = new SelectedFields();
const noKeys: readonly string[] = [];

function propertiesOf({ bytes, headerStart, headerLength }: EnqueueView): PropertyView {
  return view.set(bytes, headerStart, headerStart + headerLength);
}

/** What exchanges may ask for. */
export function propertyText(properties: PropertyView, name: MessageProperty): string {
  const { messageId, correlationId, timestamp } = properties.decode();
  const texts = { message_id: messageId, correlation_id: correlationId, timestamp };
  return String(texts[name] ?? '');
}

export const headerCodec: HeaderCodec = {
  ...deathHeaders,

  fields: (message) => fields.set(message),

  table: (message) => shownHeaders(propertiesOf(message)),

  moreKeys(message) {
    const properties = propertiesOf(message);
    return properties.routingFields === 0 ? noKeys : keptKeys(properties);
  },

  properties: (message): Properties => {
    return (name) => propertyText(propertiesOf(message), name);
  },

  delayed(message) {
    const properties = propertiesOf(message);
    const delay = delayIn(properties.headers()) ?? 0;
    return rewriteHeaders(properties, { headers: { [delayHeader]: -delay } });
  },

  annotated: (message, annotations) =>
    rewriteHeaders(propertiesOf(message), { headers: annotationHeaders(annotations) }),

  ttlMs(message) {
    const ms = propertiesOf(message).expirationMs;
    return ms === undefined || Number.isNaN(ms) ? undefined : ms;
  },
};

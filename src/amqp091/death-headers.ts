/**
 * What a message's header says of its deaths, as RabbitMQ writes it: the header `x-death` is a list of tables, the last death first,
 * one for each queue and reason, with a count; `x-first-death-*` tell of the first. The expiration goes: where the message goes now
 * it is not to die of it again. CC and BCC go if the queue names a key for its dead letters, and lead on otherwise. All other properties and headers stay as they are, byte for byte.
 */
import type { EnqueueView } from '../log/record.js';
import type { Arguments, ArgumentValue } from '../model/broker.js';
import { Timestamp } from '../model/broker.js';
import { type Death, DeathReason, type HeaderCodec } from '../model/dead-letter/death.js';
import { decodeLooseText } from '../wire/utf8.js';
import { carbonHeaders, shownKeys } from './carbon-copies.js';
import { PropertyView } from './codec/property-view.js';
import { rewriteHeaders } from './header-rewrite.js';

const deaths = 'x-death';
const firstReason = 'x-first-death-reason';
const firstQueue = 'x-first-death-queue';
const firstExchange = 'x-first-death-exchange';

const properties = new PropertyView();

function propertiesOf({ bytes, headerStart, headerLength }: EnqueueView): PropertyView {
  return properties.set(bytes, headerStart, headerStart + headerLength);
}

export const deathHeaders: Pick<HeaderCodec, 'note' | 'isCircle'> = {
  note(message, death) {
    const headers = withDeath(propertiesOf(message).headers(), message, death);
    const without = death.isReaddressed ? carbonHeaders : [];
    return rewriteHeaders(properties, { headers, without, dropsExpiration: true });
  },

  isCircle(message, queue) {
    const list = deathsOf(propertiesOf(message).headers());
    const last = list.findIndex((one) => one['queue'] === queue);
    if (last < 0) return false;
    return !list.slice(0, last + 1).some(isDecided);
  },
};

/** A consumer, or an operator, wanted it so: no circle goes on by itself. */
function isDecided({ reason }: Arguments): boolean {
  return reason === DeathReason.rejected || reason === DeathReason.rerouted;
}

/** Tables of `x-death`; what is none of ours in it is passed over. */
function deathsOf(headers: Arguments): Arguments[] {
  const list = Object.hasOwn(headers, deaths) ? headers[deaths] : undefined;
  if (!Array.isArray(list)) return [];
  return list.filter((one): one is Arguments => typeof one === 'object' && one !== null && !Array.isArray(one));
}

/** The headers that replace, or join, those that the message has: `before`. */
function withDeath(before: Arguments, message: EnqueueView, { reason, queue, time }: Death): Arguments {
  const exchange = textAt(message, message.metaStart);
  const list = deathsOf(before);
  const known = list.find((one) => one['queue'] === queue && one['reason'] === reason);
  const others = list.filter((one) => one !== known);
  const headers: Arguments = {};
  if (known !== undefined) headers[deaths] = [{ ...known, count: countOf(known['count']) + 1n }, ...others];
  else {
    const { expiration } = properties;
    const entry: Arguments = {
      count: 1n,
      reason,
      queue,
      time: new Timestamp(time),
      exchange,
      'routing-keys': [
        textAt(message, message.metaStart + 1 + message.bytes[message.metaStart]!),
        ...shownKeys(before),
      ],
      ...(expiration === undefined ? {} : { 'original-expiration': expiration }),
    };
    headers[deaths] = [entry, ...others];
  }
  if (!Object.hasOwn(before, firstReason)) {
    headers[firstReason] = reason;
    headers[firstQueue] = queue;
    headers[firstExchange] = exchange;
  }
  return headers;
}

function countOf(value: ArgumentValue | undefined): bigint {
  return typeof value === 'number' || typeof value === 'bigint' ? BigInt(value) : 0n;
}

function textAt({ bytes }: EnqueueView, at: number): string {
  return decodeLooseText(bytes, at + 1, at + 1 + bytes[at]!);
}

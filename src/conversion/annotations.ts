import { decodeFailure } from '../amqp10/codec/amqp-error.js';
import { readValue } from '../amqp10/codec/value-reader.js';
import { MapValue, textOf, type Value } from '../amqp10/codec/values.js';
import type { Arguments } from '../model/broker.js';
import { ByteReader } from '../wire/byte-reader.js';
import { toArguments } from './values.js';

/** What encoded maps of annotations, back to back, say together: later ones outweigh earlier ones. Keys that are no text are left out. */
export function annotationsIn(bytes: Uint8Array): Record<string, Value> {
  // Without a prototype: `__proto__` is a key like any other.
  const all: Record<string, Value> = Object.create(null);
  const reader = new ByteReader(bytes, 0, bytes.length);
  try {
    while (reader.remaining > 0) {
      const map = readValue(reader);
      for (const [key, value] of map instanceof MapValue ? map.entries : []) {
        const name = textOf(key);
        if (name !== undefined) all[name] = value;
      }
    }
  } catch (error) {
    throw decodeFailure(error, 'annotations');
  }
  return all;
}

/** The same as headers of AMQP 0-9-1. */
export function annotationHeaders(bytes: Uint8Array): Arguments {
  return toArguments(new MapValue(Object.entries(annotationsIn(bytes))));
}

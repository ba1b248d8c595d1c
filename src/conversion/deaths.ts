/**
 * What a message says of its deaths, in the two forms that RabbitMQ gives it: the header `x-death`, a list of tables, and the annotation
 * `x-opt-deaths`, an array of maps. The last death comes first in both.
 */
import { ArrayValue, integerOf, MapValue, Scalar, symbol, textOf, type Value } from '../amqp10/codec/values.js';
import { type Arguments, type ArgumentValue, Timestamp } from '../model/broker.js';

export const deathHeader = 'x-death';
export const deathAnnotation = 'x-opt-deaths';

/** A queue where a message died, for one reason. Times are in ms since 1970. */
export interface DeathRecord {
  readonly queue: string;
  readonly reason: string;
  readonly count: bigint;
  readonly firstTime: number;
  readonly lastTime: number;
  readonly exchange: string;
  readonly routingKeys: readonly string[];
  /** Its time to live then, in ms. */
  readonly ttlMs: number | undefined;
}

/** What is none of ours in the annotation is passed over. */
export function deathsInAnnotation(value: Value | undefined): DeathRecord[] {
  const list = value instanceof ArrayValue ? value.elements : Array.isArray(value) ? value : [];
  return list.filter((one) => one instanceof MapValue).map(readMap);
}

function readMap(map: MapValue): DeathRecord {
  const keys = map.get('routing-keys');
  const list = keys instanceof ArrayValue ? keys.elements : Array.isArray(keys) ? keys : [];
  return {
    queue: textOf(map.get('queue')) ?? '',
    reason: textOf(map.get('reason')) ?? '',
    count: BigInt(integerOf(map.get('count')) ?? 0),
    firstTime: integerOf(map.get('first-time')) ?? 0,
    lastTime: integerOf(map.get('last-time')) ?? 0,
    exchange: textOf(map.get('exchange')) ?? '',
    routingKeys: list.map((key) => textOf(key) ?? ''),
    ttlMs: integerOf(map.get('ttl')),
  };
}

export function toDeathAnnotation(deaths: readonly DeathRecord[]): Value {
  return new ArrayValue('map', deaths.map(deathMap));
}

function deathMap({ queue, reason, count, firstTime, lastTime, exchange, routingKeys, ttlMs }: DeathRecord): MapValue {
  const entries: [string, Value][] = [
    ['queue', queue],
    ['reason', symbol(reason)],
    ['count', new Scalar('ulong', count)],
    ['first-time', new Scalar('timestamp', BigInt(firstTime))],
    ['last-time', new Scalar('timestamp', BigInt(lastTime))],
    ['exchange', exchange],
    ['routing-keys', new ArrayValue('string', [...routingKeys])],
  ];
  if (ttlMs !== undefined) entries.unshift(['ttl', new Scalar('uint', ttlMs)]);
  return new MapValue(entries.map(([key, value]) => [symbol(key), value]));
}

/** The header's tables. */
export function toDeathHeader(deaths: readonly DeathRecord[]): ArgumentValue[] {
  return deaths.map(({ queue, reason, count, firstTime, exchange, routingKeys, ttlMs }) => ({
    count,
    reason,
    queue,
    time: new Timestamp(Math.floor(firstTime / 1000)),
    exchange,
    'routing-keys': [...routingKeys],
    ...(ttlMs === undefined ? {} : { 'original-expiration': String(ttlMs) }),
  }));
}

/** Undefined: the header is not ours, and stays what it is. */
export function deathsInHeader(value: ArgumentValue): DeathRecord[] | undefined {
  if (!Array.isArray(value) || !value.every(isTable)) return undefined;
  return value.map((table) => {
    const { time, count } = table;
    const keys = Array.isArray(table['routing-keys']) ? table['routing-keys'] : [];
    const at = time instanceof Timestamp ? time.seconds * 1000 : 0;
    const ttl = Number(textAt(table, 'original-expiration'));
    return {
      queue: textAt(table, 'queue'),
      reason: textAt(table, 'reason'),
      count: typeof count === 'number' || typeof count === 'bigint' ? BigInt(count) : 0n,
      firstTime: at,
      lastTime: at,
      exchange: textAt(table, 'exchange'),
      routingKeys: keys.filter((key) => typeof key === 'string'),
      ttlMs: Object.hasOwn(table, 'original-expiration') && Number.isSafeInteger(ttl) ? ttl : undefined,
    };
  });
}

function isTable(value: ArgumentValue): value is Arguments {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Uint8Array) &&
    !(value instanceof Timestamp)
  );
}

function textAt(table: Arguments, name: string): string {
  const value = Object.hasOwn(table, name) ? table[name] : undefined;
  return typeof value === 'string' ? value : '';
}

/** What links ask for that they want to resume (§2.6.13, §3.5.3), and what they are answered. */
import { type AcquiredOutcomes, terminusSecondsMax, type UnsettledKey } from '../model/terminus/port.js';
import {
  type Attach,
  Descriptor,
  Described,
  integerOf,
  MapValue,
  positionTagBytes,
  Scalar,
  type Source,
  type Target,
  type TransferView,
  type Value,
} from './codec/index.js';

/** §2.8.3: the receiver settles when the sender has. */
export const settleSecond = 1;
const positionTag = new RegExp(`^[0-9a-f]{${positionTagBytes}}$`);
/** Bytes that a map leaves to the rest of an attach in a frame; half of a frame if that is less. */
const spareBytes = 2048;
/** Of a map's entry, besides the tag: its head, and a state. */
const entryBytes = 12;

/** For how long the terminus is to be kept while it is not attached, in milliseconds; -1 = for ever. Undefined: it is not asked for. */
export function timeoutOf({ expiryPolicy, timeout }: Source | Target): number | undefined {
  if (expiryPolicy === 'never') return -1;
  return timeout === 0 ? undefined : Math.min(timeout, terminusSecondsMax) * 1000;
}

/** Has the terminus of an answer say what is in force (§3.5.3). */
export function granted<T extends Source | Target>(terminus: T, timeoutMs: number | undefined): T {
  // Time begins with the detach, also if the session goes on.
  if (timeoutMs !== -1) terminus.expiryPolicy = 'link-detach';
  terminus.timeout = timeoutMs === undefined ? 0 : Math.max(0, timeoutMs / 1000);
  return terminus;
}

/**
 * The tag of a message that a link has acquired, as a text: the same whenever and through whichever node it is delivered. Digits, for there
 * are clients, rhea among them, that make texts of a map's keys.
 */
export function tagOf(position: number): string {
  return position.toString(16).padStart(positionTagBytes, '0');
}

/** Undefined: it is none of those. */
export function positionOf(tag: string): number | undefined {
  return positionTag.test(tag) ? Number.parseInt(tag, 16) : undefined;
}

/** A tag as a text, a character for each byte. */
export function textOfTag(tag: Uint8Array): string {
  return Buffer.from(tag.buffer, tag.byteOffset, tag.length).toString('latin1');
}

/** The client's unsettled deliveries, by the texts of their tags. */
export function unsettledOf({ unsettled }: Attach): Map<string, Value> {
  const map = new Map<string, Value>();
  for (const [tag, state] of unsettled?.entries ?? []) if (tag instanceof Uint8Array) map.set(textOfTag(tag), state);
  return map;
}

/** What the client of a source has decided of deliveries whose end it does not know yet. */
export function outcomesIn(request: Attach): AcquiredOutcomes {
  const outcomes = {
    acks: [] as number[],
    rejects: [] as number[],
    requeues: [] as number[],
    putBacks: [] as number[],
    releases: [],
  };
  for (const [tag, state] of unsettledOf(request)) {
    const position = positionOf(tag);
    const kind = position === undefined ? undefined : kindOf(state);
    if (kind !== undefined) outcomes[kind].push(position!);
  }
  return outcomes;
}

function kindOf(state: Value): 'acks' | 'rejects' | 'requeues' | 'putBacks' | undefined {
  if (!(state instanceof Described)) return undefined;
  const { descriptor, value } = state;
  const code = integerOf(descriptor) ?? descriptorCodes.get(textOf(descriptor));
  if (code === Descriptor.accepted) return 'acks';
  if (code === Descriptor.rejected) return 'rejects';
  if (code === Descriptor.released) return 'putBacks';
  if (code !== Descriptor.modified) return undefined;
  const [deliveryFailed, undeliverableHere] = Array.isArray(value) ? value : [];
  if (undeliverableHere === true) return 'rejects';
  return deliveryFailed === true ? 'requeues' : 'putBacks';
}

const descriptorCodes: ReadonlyMap<string, number> = new Map([
  ['amqp:accepted:list', Descriptor.accepted],
  ['amqp:rejected:list', Descriptor.rejected],
  ['amqp:released:list', Descriptor.released],
  ['amqp:modified:list', Descriptor.modified],
]);

function textOf(value: Value): string {
  return value instanceof Scalar ? String(value.value) : '';
}

/** The state of a delivery that is safe. */
export function acceptedValue(): Value {
  return new Described(new Scalar('ulong', BigInt(Descriptor.accepted)), []);
}

/**
 * Puts the map of what both ends have into an answer, as far as the client's frames have room for it. Returns what was left out: the client
 * attaches again for the rest (incomplete-unsettled, §2.7.3).
 */
export function answerUnsettled(
  reply: Attach,
  keys: readonly UnsettledKey[],
  state: () => Value,
  frameMax: number,
): readonly UnsettledKey[] {
  let room = frameMax - Math.min(spareBytes, frameMax / 2);
  const entries: [Value, Value][] = [];
  let at = 0;
  for (; at < keys.length; at++) {
    const key = keys[at]!;
    const tag = new Uint8Array(Buffer.from(typeof key === 'number' ? tagOf(key) : key, 'latin1'));
    room -= tag.length + entryBytes;
    if (room < 0) break;
    entries.push([tag, state()]);
  }
  reply.unsettled = new MapValue(entries);
  reply.incompleteUnsettled = at < keys.length;
  return keys.slice(at);
}

/** The tag of a delivery that begins. */
export function tagIn({ bytes, tagStart, tagLength }: TransferView): string {
  return tagLength <= 0 ? '' : textOfTag(bytes.subarray(tagStart, tagStart + tagLength));
}

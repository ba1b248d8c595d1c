/** transfer, disposition and flow, decoded without an object or a string: flyweights that are moved from frame to frame. */
import { readU32 } from '../../wire/bytes.js';
import { ByteReader } from '../../wire/byte-reader.js';
import { AmqpError, decodeFailure } from './amqp-error.js';
import { FieldReader } from './field-reader.js';
import { Code } from './format-codes.js';
import { Condition } from './generated/conditions.js';
import { Descriptor } from './generated/descriptors.js';
import { decodeDeliveryState, type DeliveryState } from './generated/states.js';
import { describeCode, skipValue } from './value-reader.js';

/** A field that is null or not there, where a number is expected. */
export const absent = -1;

/** Fields of a list where they lie; `left` counts those that are not read. */
class HotReader {
  bytes: Uint8Array = new Uint8Array(0);
  at = 0;
  end = 0;
  private left = 0;
  private type = '';

  /** Points at the list behind the three bytes of its descriptor at `start`. */
  begin(type: string, bytes: Uint8Array, start: number, end: number): void {
    this.bytes = bytes;
    this.type = type;
    const at = start + 3;
    const kind = at < end ? bytes[at] : undefined;
    if (kind === Code.list8 && at + 3 <= end) {
      this.left = bytes[at + 2]!;
      this.at = at + 3;
      this.end = at + 2 + bytes[at + 1]!;
    } else if (kind === Code.list32 && at + 9 <= end) {
      this.left = readU32(bytes, at + 5);
      this.at = at + 9;
      this.end = at + 5 + readU32(bytes, at + 1);
    } else if (kind === Code.list0) {
      this.left = 0;
      this.at = at + 1;
      this.end = at + 1;
    } else throw this.failure('its list is cut short, or none');
    if (this.end > end || this.at > this.end) throw this.failure('its list is cut short');
  }

  /** Whether another field is there and not null; if so, `at` is where it begins. */
  private get isThere(): boolean {
    if (this.left === 0) return false;
    this.left--;
    if (this.at >= this.end) throw this.failure('a field is cut short');
    if (this.bytes[this.at] !== Code.null) return true;
    this.at++;
    return false;
  }

  uint(): number {
    if (!this.isThere) return absent;
    const { bytes, at, end } = this;
    const code = bytes[at];
    if (code === Code.smallUint && at + 2 <= end) {
      this.at = at + 2;
      return bytes[at + 1]!;
    }
    if (code === Code.uint && at + 5 <= end) {
      this.at = at + 5;
      return readU32(bytes, at + 1);
    }
    if (code !== Code.uint0) throw this.wrong('uint');
    this.at = at + 1;
    return 0;
  }

  ubyte(): number {
    if (!this.isThere) return absent;
    const { bytes, at } = this;
    if (bytes[at] !== Code.ubyte || at + 2 > this.end) throw this.wrong('ubyte');
    this.at = at + 2;
    return bytes[at + 1]!;
  }

  /** @param otherwise if it is null or not there */
  boolean(otherwise: boolean): boolean {
    if (!this.isThere) return otherwise;
    const { bytes, at } = this;
    const code = bytes[at];
    if (code === Code.true || code === Code.false) {
      this.at = at + 1;
      return code === Code.true;
    }
    if (code !== Code.boolean || at + 2 > this.end || bytes[at + 1]! > 1) throw this.wrong('boolean');
    this.at = at + 2;
    return bytes[at + 1] === 1;
  }

  /** Length of a binary value, whose bytes end where `at` is then; `absent` if there is none. */
  binary(): number {
    if (!this.isThere) return absent;
    const { bytes, at, end } = this;
    if (bytes[at] === Code.binary8 && at + 2 <= end) {
      const length = bytes[at + 1]!;
      this.at = at + 2 + length;
      if (this.at > end) throw this.wrong('binary');
      return length;
    }
    if (bytes[at] !== Code.binary32 || at + 5 > end) throw this.wrong('binary');
    const length = readU32(bytes, at + 1);
    this.at = at + 5 + length;
    if (this.at > end) throw this.wrong('binary');
    return length;
  }

  /** Where a value of any type begins, `absent` if there is none; `at` is its end then. */
  value(): number {
    if (!this.isThere) return absent;
    const { at } = this;
    try {
      this.at = skipValue(this.bytes, at, this.end);
    } catch (error) {
      throw decodeFailure(error, this.type);
    }
    return at;
  }

  /** Steps over the fields that are left. @param fieldsMax that the type has, behind those that were read */
  finish(fieldsMax: number): void {
    if (this.left > fieldsMax) throw this.failure('it has too many fields');
    while (this.left > 0) this.value();
    if (this.at !== this.end) throw this.failure('bytes follow its last field');
  }

  missing(name: string): never {
    throw new AmqpError(Condition.invalidField, `${this.type} has no ${name}, which is mandatory`);
  }

  failure(what: string): AmqpError {
    return new AmqpError(Condition.decodeError, `cannot decode ${this.type}: ${what}`);
  }

  private wrong(expected: string): AmqpError {
    return this.failure(`a ${describeCode(this.bytes[this.at]!)}, ${expected} expected, or it is cut short`);
  }
}

const fields = new HotReader();
const stateReader = new ByteReader();

/** The state at `at`; undefined if there is none (`absent`). Throws AmqpError. */
export function stateAt(bytes: Uint8Array, at: number, end: number): DeliveryState | undefined {
  if (at === absent) return undefined;
  try {
    const reader = new FieldReader(stateReader.set(bytes, at, end));
    const state = decodeDeliveryState(reader.begin(), reader);
    if (state === undefined) throw new AmqpError(Condition.notImplemented, 'a delivery state that is not known');
    return state;
  } catch (error) {
    throw decodeFailure(error, 'a delivery state');
  }
}

/** A transfer (§2.7.5) with its payload, [payloadStart, payloadEnd) of `bytes`. */
export class TransferView {
  bytes: Uint8Array = new Uint8Array(0);
  handle = 0;
  /** `absent` on the further frames of a delivery, as are tag (its length), format and mode. */
  deliveryId: number = absent;
  tagStart = 0;
  tagLength: number = absent;
  messageFormat: number = absent;
  /** Undefined: as before in this delivery; on its first frame false. */
  settled = false;
  more = false;
  rcvSettleMode: number = absent;
  /** Where a delivery state begins. */
  stateAt: number = absent;
  stateEnd = 0;
  resume = false;
  aborted = false;
  batchable = false;
  payloadStart = 0;
  payloadEnd = 0;

  /** Reads the frame body [start, end) of a transfer. Throws AmqpError. */
  set(bytes: Uint8Array, start: number, end: number): this {
    fields.begin('transfer', bytes, start, end);
    this.bytes = bytes;
    const handle = fields.uint();
    if (handle === absent) fields.missing('handle');
    this.handle = handle;
    this.deliveryId = fields.uint();
    this.tagLength = fields.binary();
    this.tagStart = fields.at - this.tagLength;
    this.messageFormat = fields.uint();
    this.settled = fields.boolean(false);
    this.more = fields.boolean(false);
    if (fields.at === fields.end) {
      this.rcvSettleMode = absent;
      this.stateAt = absent;
      this.resume = false;
      this.aborted = false;
      this.batchable = false;
    } else this.setRest();
    fields.finish(0);
    this.payloadStart = fields.end;
    this.payloadEnd = end;
    return this;
  }

  private setRest(): void {
    this.rcvSettleMode = fields.ubyte();
    this.stateAt = fields.value();
    this.stateEnd = fields.at;
    this.resume = fields.boolean(false);
    this.aborted = fields.boolean(false);
    this.batchable = fields.boolean(false);
  }
}

/** What a disposition says, as far as it says no more than that. */
export const StateKind = { none: 0, accepted: 1, released: 2, other: 3 } as const;
export type StateKind = (typeof StateKind)[keyof typeof StateKind];

/** A disposition (§2.7.6). */
export class DispositionView {
  bytes: Uint8Array = new Uint8Array(0);
  /** True: from a receiver. */
  role = false;
  first = 0;
  last = 0;
  settled = false;
  state: StateKind = StateKind.none;
  stateAt: number = absent;
  stateEnd = 0;

  /** Reads the frame body [start, end) of a disposition. Throws AmqpError. */
  set(bytes: Uint8Array, start: number, end: number): this {
    fields.begin('disposition', bytes, start, end);
    this.bytes = bytes;
    this.role = fields.boolean(false);
    const first = fields.uint();
    if (first === absent) fields.missing('first');
    const last = fields.uint();
    this.first = first;
    this.last = last === absent ? first : last;
    this.settled = fields.boolean(false);
    this.stateAt = fields.value();
    this.stateEnd = fields.at;
    this.state = this.kind();
    fields.boolean(false);
    fields.finish(0);
    if (fields.end !== end) throw fields.failure('bytes follow it');
    return this;
  }

  /** accepted and released are four bytes mostly. */
  private kind(): StateKind {
    const { bytes, stateAt: at } = this;
    if (at === absent) return StateKind.none;
    if (this.stateEnd - at === 4 && bytes[at + 1] === Code.smallUlong && bytes[at + 3] === Code.list0) {
      if (bytes[at + 2] === Descriptor.accepted) return StateKind.accepted;
      if (bytes[at + 2] === Descriptor.released) return StateKind.released;
    }
    return StateKind.other;
  }
}

/** A flow (§2.7.4). Numbers that are not there are `absent`. */
export class FlowView {
  nextIncomingId: number = absent;
  incomingWindow = 0;
  nextOutgoingId = 0;
  outgoingWindow = 0;
  handle: number = absent;
  deliveryCount: number = absent;
  linkCredit: number = absent;
  available: number = absent;
  drain = false;
  echo = false;

  /** Reads the frame body [start, end) of a flow. Throws AmqpError. */
  set(bytes: Uint8Array, start: number, end: number): this {
    fields.begin('flow', bytes, start, end);
    this.nextIncomingId = fields.uint();
    this.incomingWindow = fields.uint();
    this.nextOutgoingId = fields.uint();
    this.outgoingWindow = fields.uint();
    if (this.incomingWindow === absent) fields.missing('incoming-window');
    if (this.nextOutgoingId === absent) fields.missing('next-outgoing-id');
    if (this.outgoingWindow === absent) fields.missing('outgoing-window');
    this.handle = fields.uint();
    this.deliveryCount = fields.uint();
    this.linkCredit = fields.uint();
    this.available = fields.uint();
    this.drain = fields.boolean(false);
    this.echo = fields.boolean(false);
    fields.finish(1);
    if (fields.end !== end) throw fields.failure('bytes follow it');
    return this;
  }
}

/** transfer, disposition and flow, decoded without an object or a string: flyweights that are moved from frame to frame. */
import { ByteReader } from '../../wire/byte-reader.js';
import { AmqpError, decodeFailure } from './amqp-error.js';
import { FieldReader } from './field-reader.js';
import { Code } from './format-codes.js';
import { Condition } from './generated/conditions.js';
import { Descriptor } from './generated/descriptors.js';
import { decodeDeliveryState, type DeliveryState } from './generated/states.js';
import { absent, HotReader } from './hot-reader.js';
import { readValue } from './value-reader.js';
import { MapValue } from './values.js';

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
  bytes: Uint8Array = new Uint8Array(0);
  /** Where a map of properties begins. */
  propertiesAt: number = absent;
  propertiesEnd = 0;

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
    this.bytes = bytes;
    this.propertiesAt = fields.value();
    this.propertiesEnd = fields.at;
    fields.finish(0);
    if (fields.end !== end) throw fields.failure('bytes follow it');
    return this;
  }

  /** Of what it delivers, the transaction is to acquire it (§4.4.3). */
  get acquiresInTransaction(): boolean {
    const { bytes, propertiesAt: at, propertiesEnd } = this;
    if (at === absent) return false;
    try {
      const properties = readValue(stateReader.set(bytes, at, propertiesEnd));
      return properties instanceof MapValue && properties.get('txn-id') !== undefined;
    } catch (error) {
      throw decodeFailure(error, 'the properties of a flow');
    }
  }
}

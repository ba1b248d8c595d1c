// Generated from tools/codegen/amqp10/definition.json by tools/codegen/main.ts. Do not edit.
/** The bodies of AMQP frames (§2.7). */
import type { FieldReader } from '../field-reader.js';
import type { ListWriter } from '../list-writer.js';
import type { MapValue } from '../values.js';
import { Descriptor } from './descriptors.js';
import { decodeErrorFields, type ErrorFields, decodeDeliveryState, type DeliveryState } from './states.js';
import { decodeSource, type Source, decodeAnyTarget, type AnyTarget } from './terminus.js';

const openFields = [
  'container-id',
  'hostname',
  'max-frame-size',
  'channel-max',
  'idle-time-out',
  'outgoing-locales',
  'incoming-locales',
  'offered-capabilities',
  'desired-capabilities',
  'properties',
] as const;

/** open */
export class Open {
  readonly descriptor: typeof Descriptor.open = Descriptor.open;
  containerId: string = '';
  hostname: string | undefined = undefined;
  maxFrameSize: number = 4294967295;
  channelMax: number = 65535;
  idleTimeOut: number | undefined = undefined;
  outgoingLocales: string[] | undefined = undefined;
  incomingLocales: string[] | undefined = undefined;
  offeredCapabilities: string[] | undefined = undefined;
  desiredCapabilities: string[] | undefined = undefined;
  properties: MapValue | undefined = undefined;

  static decode(fields: FieldReader): Open {
    fields.expect('open', openFields);
    const it = new Open();
    it.containerId = fields.string() ?? fields.missing();
    it.hostname = fields.string();
    it.maxFrameSize = fields.uint() ?? 4294967295;
    it.channelMax = fields.ushort() ?? 65535;
    it.idleTimeOut = fields.uint();
    it.outgoingLocales = fields.symbols();
    it.incomingLocales = fields.symbols();
    it.offeredCapabilities = fields.symbols();
    it.desiredCapabilities = fields.symbols();
    it.properties = fields.fields();
    fields.finish();
    return it;
  }

  encode(writer: ListWriter): void {
    writer.begin(Descriptor.open);
    writer.string(this.containerId);
    writer.string(this.hostname);
    writer.uint(this.maxFrameSize === 4294967295 ? undefined : this.maxFrameSize);
    writer.ushort(this.channelMax === 65535 ? undefined : this.channelMax);
    writer.uint(this.idleTimeOut);
    writer.symbols(this.outgoingLocales);
    writer.symbols(this.incomingLocales);
    writer.symbols(this.offeredCapabilities);
    writer.symbols(this.desiredCapabilities);
    writer.fields(this.properties);
    writer.end();
  }
}

const beginFields = [
  'remote-channel',
  'next-outgoing-id',
  'incoming-window',
  'outgoing-window',
  'handle-max',
  'offered-capabilities',
  'desired-capabilities',
  'properties',
] as const;

/** begin */
export class Begin {
  readonly descriptor: typeof Descriptor.begin = Descriptor.begin;
  remoteChannel: number | undefined = undefined;
  nextOutgoingId: number = 0;
  incomingWindow: number = 0;
  outgoingWindow: number = 0;
  handleMax: number = 4294967295;
  offeredCapabilities: string[] | undefined = undefined;
  desiredCapabilities: string[] | undefined = undefined;
  properties: MapValue | undefined = undefined;

  static decode(fields: FieldReader): Begin {
    fields.expect('begin', beginFields);
    const it = new Begin();
    it.remoteChannel = fields.ushort();
    it.nextOutgoingId = fields.uint() ?? fields.missing();
    it.incomingWindow = fields.uint() ?? fields.missing();
    it.outgoingWindow = fields.uint() ?? fields.missing();
    it.handleMax = fields.uint() ?? 4294967295;
    it.offeredCapabilities = fields.symbols();
    it.desiredCapabilities = fields.symbols();
    it.properties = fields.fields();
    fields.finish();
    return it;
  }

  encode(writer: ListWriter): void {
    writer.begin(Descriptor.begin);
    writer.ushort(this.remoteChannel);
    writer.uint(this.nextOutgoingId);
    writer.uint(this.incomingWindow);
    writer.uint(this.outgoingWindow);
    writer.uint(this.handleMax === 4294967295 ? undefined : this.handleMax);
    writer.symbols(this.offeredCapabilities);
    writer.symbols(this.desiredCapabilities);
    writer.fields(this.properties);
    writer.end();
  }
}

const attachFields = [
  'name',
  'handle',
  'role',
  'snd-settle-mode',
  'rcv-settle-mode',
  'source',
  'target',
  'unsettled',
  'incomplete-unsettled',
  'initial-delivery-count',
  'max-message-size',
  'offered-capabilities',
  'desired-capabilities',
  'properties',
] as const;

/** attach */
export class Attach {
  readonly descriptor: typeof Descriptor.attach = Descriptor.attach;
  name: string = '';
  handle: number = 0;
  role: boolean = false;
  sndSettleMode: number = 2;
  rcvSettleMode: number = 0;
  source: Source | undefined = undefined;
  target: AnyTarget | undefined = undefined;
  unsettled: MapValue | undefined = undefined;
  incompleteUnsettled: boolean = false;
  initialDeliveryCount: number | undefined = undefined;
  maxMessageSize: number | undefined = undefined;
  offeredCapabilities: string[] | undefined = undefined;
  desiredCapabilities: string[] | undefined = undefined;
  properties: MapValue | undefined = undefined;

  static decode(fields: FieldReader): Attach {
    fields.expect('attach', attachFields);
    const it = new Attach();
    it.name = fields.string() ?? fields.missing();
    it.handle = fields.uint() ?? fields.missing();
    it.role = fields.boolean() ?? fields.missing();
    it.sndSettleMode = fields.ubyte() ?? 2;
    it.rcvSettleMode = fields.ubyte() ?? 0;
    it.source = fields.nested(decodeSource);
    it.target = fields.nested(decodeAnyTarget);
    it.unsettled = fields.map();
    it.incompleteUnsettled = fields.boolean() ?? false;
    it.initialDeliveryCount = fields.uint();
    it.maxMessageSize = fields.ulong();
    it.offeredCapabilities = fields.symbols();
    it.desiredCapabilities = fields.symbols();
    it.properties = fields.fields();
    fields.finish();
    return it;
  }

  encode(writer: ListWriter): void {
    writer.begin(Descriptor.attach);
    writer.string(this.name);
    writer.uint(this.handle);
    writer.boolean(this.role);
    writer.ubyte(this.sndSettleMode === 2 ? undefined : this.sndSettleMode);
    writer.ubyte(this.rcvSettleMode === 0 ? undefined : this.rcvSettleMode);
    writer.nested(this.source);
    writer.nested(this.target);
    writer.map(this.unsettled);
    writer.boolean(this.incompleteUnsettled === false ? undefined : this.incompleteUnsettled);
    writer.uint(this.initialDeliveryCount);
    writer.ulong(this.maxMessageSize);
    writer.symbols(this.offeredCapabilities);
    writer.symbols(this.desiredCapabilities);
    writer.fields(this.properties);
    writer.end();
  }
}

const flowFields = [
  'next-incoming-id',
  'incoming-window',
  'next-outgoing-id',
  'outgoing-window',
  'handle',
  'delivery-count',
  'link-credit',
  'available',
  'drain',
  'echo',
  'properties',
] as const;

/** flow */
export class Flow {
  readonly descriptor: typeof Descriptor.flow = Descriptor.flow;
  nextIncomingId: number | undefined = undefined;
  incomingWindow: number = 0;
  nextOutgoingId: number = 0;
  outgoingWindow: number = 0;
  handle: number | undefined = undefined;
  deliveryCount: number | undefined = undefined;
  linkCredit: number | undefined = undefined;
  available: number | undefined = undefined;
  drain: boolean = false;
  echo: boolean = false;
  properties: MapValue | undefined = undefined;

  static decode(fields: FieldReader): Flow {
    fields.expect('flow', flowFields);
    const it = new Flow();
    it.nextIncomingId = fields.uint();
    it.incomingWindow = fields.uint() ?? fields.missing();
    it.nextOutgoingId = fields.uint() ?? fields.missing();
    it.outgoingWindow = fields.uint() ?? fields.missing();
    it.handle = fields.uint();
    it.deliveryCount = fields.uint();
    it.linkCredit = fields.uint();
    it.available = fields.uint();
    it.drain = fields.boolean() ?? false;
    it.echo = fields.boolean() ?? false;
    it.properties = fields.fields();
    fields.finish();
    return it;
  }

  encode(writer: ListWriter): void {
    writer.begin(Descriptor.flow);
    writer.uint(this.nextIncomingId);
    writer.uint(this.incomingWindow);
    writer.uint(this.nextOutgoingId);
    writer.uint(this.outgoingWindow);
    writer.uint(this.handle);
    writer.uint(this.deliveryCount);
    writer.uint(this.linkCredit);
    writer.uint(this.available);
    writer.boolean(this.drain === false ? undefined : this.drain);
    writer.boolean(this.echo === false ? undefined : this.echo);
    writer.fields(this.properties);
    writer.end();
  }
}

const transferFields = [
  'handle',
  'delivery-id',
  'delivery-tag',
  'message-format',
  'settled',
  'more',
  'rcv-settle-mode',
  'state',
  'resume',
  'aborted',
  'batchable',
] as const;

/** transfer */
export class Transfer {
  readonly descriptor: typeof Descriptor.transfer = Descriptor.transfer;
  handle: number = 0;
  deliveryId: number | undefined = undefined;
  deliveryTag: Uint8Array | undefined = undefined;
  messageFormat: number | undefined = undefined;
  settled: boolean | undefined = undefined;
  more: boolean = false;
  rcvSettleMode: number | undefined = undefined;
  state: DeliveryState | undefined = undefined;
  resume: boolean = false;
  aborted: boolean = false;
  batchable: boolean = false;

  static decode(fields: FieldReader): Transfer {
    fields.expect('transfer', transferFields);
    const it = new Transfer();
    it.handle = fields.uint() ?? fields.missing();
    it.deliveryId = fields.uint();
    it.deliveryTag = fields.binary();
    it.messageFormat = fields.uint();
    it.settled = fields.boolean();
    it.more = fields.boolean() ?? false;
    it.rcvSettleMode = fields.ubyte();
    it.state = fields.nested(decodeDeliveryState);
    it.resume = fields.boolean() ?? false;
    it.aborted = fields.boolean() ?? false;
    it.batchable = fields.boolean() ?? false;
    fields.finish();
    return it;
  }

  encode(writer: ListWriter): void {
    writer.begin(Descriptor.transfer);
    writer.uint(this.handle);
    writer.uint(this.deliveryId);
    writer.binary(this.deliveryTag);
    writer.uint(this.messageFormat);
    writer.boolean(this.settled);
    writer.boolean(this.more === false ? undefined : this.more);
    writer.ubyte(this.rcvSettleMode);
    writer.nested(this.state);
    writer.boolean(this.resume === false ? undefined : this.resume);
    writer.boolean(this.aborted === false ? undefined : this.aborted);
    writer.boolean(this.batchable === false ? undefined : this.batchable);
    writer.end();
  }
}

const dispositionFields = ['role', 'first', 'last', 'settled', 'state', 'batchable'] as const;

/** disposition */
export class Disposition {
  readonly descriptor: typeof Descriptor.disposition = Descriptor.disposition;
  role: boolean = false;
  first: number = 0;
  last: number | undefined = undefined;
  settled: boolean = false;
  state: DeliveryState | undefined = undefined;
  batchable: boolean = false;

  static decode(fields: FieldReader): Disposition {
    fields.expect('disposition', dispositionFields);
    const it = new Disposition();
    it.role = fields.boolean() ?? fields.missing();
    it.first = fields.uint() ?? fields.missing();
    it.last = fields.uint();
    it.settled = fields.boolean() ?? false;
    it.state = fields.nested(decodeDeliveryState);
    it.batchable = fields.boolean() ?? false;
    fields.finish();
    return it;
  }

  encode(writer: ListWriter): void {
    writer.begin(Descriptor.disposition);
    writer.boolean(this.role);
    writer.uint(this.first);
    writer.uint(this.last);
    writer.boolean(this.settled === false ? undefined : this.settled);
    writer.nested(this.state);
    writer.boolean(this.batchable === false ? undefined : this.batchable);
    writer.end();
  }
}

const detachFields = ['handle', 'closed', 'error'] as const;

/** detach */
export class Detach {
  readonly descriptor: typeof Descriptor.detach = Descriptor.detach;
  handle: number = 0;
  closed: boolean = false;
  error: ErrorFields | undefined = undefined;

  static decode(fields: FieldReader): Detach {
    fields.expect('detach', detachFields);
    const it = new Detach();
    it.handle = fields.uint() ?? fields.missing();
    it.closed = fields.boolean() ?? false;
    it.error = fields.nested(decodeErrorFields);
    fields.finish();
    return it;
  }

  encode(writer: ListWriter): void {
    writer.begin(Descriptor.detach);
    writer.uint(this.handle);
    writer.boolean(this.closed === false ? undefined : this.closed);
    writer.nested(this.error);
    writer.end();
  }
}

const endFields = ['error'] as const;

/** end */
export class End {
  readonly descriptor: typeof Descriptor.end = Descriptor.end;
  error: ErrorFields | undefined = undefined;

  static decode(fields: FieldReader): End {
    fields.expect('end', endFields);
    const it = new End();
    it.error = fields.nested(decodeErrorFields);
    fields.finish();
    return it;
  }

  encode(writer: ListWriter): void {
    writer.begin(Descriptor.end);
    writer.nested(this.error);
    writer.end();
  }
}

const closeFields = ['error'] as const;

/** close */
export class Close {
  readonly descriptor: typeof Descriptor.close = Descriptor.close;
  error: ErrorFields | undefined = undefined;

  static decode(fields: FieldReader): Close {
    fields.expect('close', closeFields);
    const it = new Close();
    it.error = fields.nested(decodeErrorFields);
    fields.finish();
    return it;
  }

  encode(writer: ListWriter): void {
    writer.begin(Descriptor.close);
    writer.nested(this.error);
    writer.end();
  }
}

export type Performative = Open | Begin | Attach | Flow | Transfer | Disposition | Detach | End | Close;

/** Reads the list behind the descriptor `code`; undefined if that is no Performative. Throws as FieldReader. */
export function decodePerformative(code: number, fields: FieldReader): Performative | undefined {
  switch (code) {
    case Descriptor.open:
      return Open.decode(fields);
    case Descriptor.begin:
      return Begin.decode(fields);
    case Descriptor.attach:
      return Attach.decode(fields);
    case Descriptor.flow:
      return Flow.decode(fields);
    case Descriptor.transfer:
      return Transfer.decode(fields);
    case Descriptor.disposition:
      return Disposition.decode(fields);
    case Descriptor.detach:
      return Detach.decode(fields);
    case Descriptor.end:
      return End.decode(fields);
    case Descriptor.close:
      return Close.decode(fields);
    default:
      return undefined;
  }
}

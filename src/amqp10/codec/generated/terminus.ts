// Generated from tools/codegen/amqp10/definition.json by tools/codegen/main.ts. Do not edit.
/** Sources, targets, and what a dynamic node lives for (§3.5, §4.5.1). */
import type { FieldReader } from '../field-reader.js';
import type { ListWriter } from '../list-writer.js';
import type { MapValue, Value } from '../values.js';
import { Descriptor } from './descriptors.js';
import { decodeDeliveryState, type DeliveryState } from './states.js';

const sourceFields = [
  'address',
  'durable',
  'expiry-policy',
  'timeout',
  'dynamic',
  'dynamic-node-properties',
  'distribution-mode',
  'filter',
  'default-outcome',
  'outcomes',
  'capabilities',
] as const;

/** source */
export class Source {
  readonly descriptor: typeof Descriptor.source = Descriptor.source;
  address: Value | undefined = undefined;
  durable: number = 0;
  expiryPolicy: string = 'session-end';
  timeout: number = 0;
  dynamic: boolean = false;
  dynamicNodeProperties: MapValue | undefined = undefined;
  distributionMode: string | undefined = undefined;
  filter: MapValue | undefined = undefined;
  defaultOutcome: DeliveryState | undefined = undefined;
  outcomes: string[] | undefined = undefined;
  capabilities: string[] | undefined = undefined;

  static decode(fields: FieldReader): Source {
    fields.expect('source', sourceFields);
    const it = new Source();
    it.address = fields.any();
    it.durable = fields.uint() ?? 0;
    it.expiryPolicy = fields.symbol() ?? 'session-end';
    it.timeout = fields.uint() ?? 0;
    it.dynamic = fields.boolean() ?? false;
    it.dynamicNodeProperties = fields.fields();
    it.distributionMode = fields.symbol();
    it.filter = fields.map();
    it.defaultOutcome = fields.nested(decodeDeliveryState);
    it.outcomes = fields.symbols();
    it.capabilities = fields.symbols();
    fields.finish();
    return it;
  }

  encode(writer: ListWriter): void {
    writer.begin(Descriptor.source);
    writer.any(this.address);
    writer.uint(this.durable === 0 ? undefined : this.durable);
    writer.symbol(this.expiryPolicy === 'session-end' ? undefined : this.expiryPolicy);
    writer.uint(this.timeout === 0 ? undefined : this.timeout);
    writer.boolean(this.dynamic === false ? undefined : this.dynamic);
    writer.fields(this.dynamicNodeProperties);
    writer.symbol(this.distributionMode);
    writer.map(this.filter);
    writer.nested(this.defaultOutcome);
    writer.symbols(this.outcomes);
    writer.symbols(this.capabilities);
    writer.end();
  }
}

const targetFields = [
  'address',
  'durable',
  'expiry-policy',
  'timeout',
  'dynamic',
  'dynamic-node-properties',
  'capabilities',
] as const;

/** target */
export class Target {
  readonly descriptor: typeof Descriptor.target = Descriptor.target;
  address: Value | undefined = undefined;
  durable: number = 0;
  expiryPolicy: string = 'session-end';
  timeout: number = 0;
  dynamic: boolean = false;
  dynamicNodeProperties: MapValue | undefined = undefined;
  capabilities: string[] | undefined = undefined;

  static decode(fields: FieldReader): Target {
    fields.expect('target', targetFields);
    const it = new Target();
    it.address = fields.any();
    it.durable = fields.uint() ?? 0;
    it.expiryPolicy = fields.symbol() ?? 'session-end';
    it.timeout = fields.uint() ?? 0;
    it.dynamic = fields.boolean() ?? false;
    it.dynamicNodeProperties = fields.fields();
    it.capabilities = fields.symbols();
    fields.finish();
    return it;
  }

  encode(writer: ListWriter): void {
    writer.begin(Descriptor.target);
    writer.any(this.address);
    writer.uint(this.durable === 0 ? undefined : this.durable);
    writer.symbol(this.expiryPolicy === 'session-end' ? undefined : this.expiryPolicy);
    writer.uint(this.timeout === 0 ? undefined : this.timeout);
    writer.boolean(this.dynamic === false ? undefined : this.dynamic);
    writer.fields(this.dynamicNodeProperties);
    writer.symbols(this.capabilities);
    writer.end();
  }
}

const deleteOnCloseFields = [] as const;

/** delete-on-close */
export class DeleteOnClose {
  readonly descriptor: typeof Descriptor.deleteOnClose = Descriptor.deleteOnClose;

  static decode(fields: FieldReader): DeleteOnClose {
    fields.expect('delete-on-close', deleteOnCloseFields);
    const it = new DeleteOnClose();
    fields.finish();
    return it;
  }

  encode(writer: ListWriter): void {
    writer.begin(Descriptor.deleteOnClose);
    writer.end();
  }
}

const deleteOnNoLinksFields = [] as const;

/** delete-on-no-links */
export class DeleteOnNoLinks {
  readonly descriptor: typeof Descriptor.deleteOnNoLinks = Descriptor.deleteOnNoLinks;

  static decode(fields: FieldReader): DeleteOnNoLinks {
    fields.expect('delete-on-no-links', deleteOnNoLinksFields);
    const it = new DeleteOnNoLinks();
    fields.finish();
    return it;
  }

  encode(writer: ListWriter): void {
    writer.begin(Descriptor.deleteOnNoLinks);
    writer.end();
  }
}

const deleteOnNoMessagesFields = [] as const;

/** delete-on-no-messages */
export class DeleteOnNoMessages {
  readonly descriptor: typeof Descriptor.deleteOnNoMessages = Descriptor.deleteOnNoMessages;

  static decode(fields: FieldReader): DeleteOnNoMessages {
    fields.expect('delete-on-no-messages', deleteOnNoMessagesFields);
    const it = new DeleteOnNoMessages();
    fields.finish();
    return it;
  }

  encode(writer: ListWriter): void {
    writer.begin(Descriptor.deleteOnNoMessages);
    writer.end();
  }
}

const deleteOnNoLinksOrMessagesFields = [] as const;

/** delete-on-no-links-or-messages */
export class DeleteOnNoLinksOrMessages {
  readonly descriptor: typeof Descriptor.deleteOnNoLinksOrMessages = Descriptor.deleteOnNoLinksOrMessages;

  static decode(fields: FieldReader): DeleteOnNoLinksOrMessages {
    fields.expect('delete-on-no-links-or-messages', deleteOnNoLinksOrMessagesFields);
    const it = new DeleteOnNoLinksOrMessages();
    fields.finish();
    return it;
  }

  encode(writer: ListWriter): void {
    writer.begin(Descriptor.deleteOnNoLinksOrMessages);
    writer.end();
  }
}

const coordinatorFields = ['capabilities'] as const;

/** coordinator */
export class Coordinator {
  readonly descriptor: typeof Descriptor.coordinator = Descriptor.coordinator;
  capabilities: string[] | undefined = undefined;

  static decode(fields: FieldReader): Coordinator {
    fields.expect('coordinator', coordinatorFields);
    const it = new Coordinator();
    it.capabilities = fields.symbols();
    fields.finish();
    return it;
  }

  encode(writer: ListWriter): void {
    writer.begin(Descriptor.coordinator);
    writer.symbols(this.capabilities);
    writer.end();
  }
}

export function decodeSource(code: number, fields: FieldReader): Source | undefined {
  return code === Descriptor.source ? Source.decode(fields) : undefined;
}

export type AnyTarget = Target | Coordinator;

/** Reads the list behind the descriptor `code`; undefined if that is no AnyTarget. Throws as FieldReader. */
export function decodeAnyTarget(code: number, fields: FieldReader): AnyTarget | undefined {
  switch (code) {
    case Descriptor.target:
      return Target.decode(fields);
    case Descriptor.coordinator:
      return Coordinator.decode(fields);
    default:
      return undefined;
  }
}

export type LifetimePolicy = DeleteOnClose | DeleteOnNoLinks | DeleteOnNoMessages | DeleteOnNoLinksOrMessages;

/** Reads the list behind the descriptor `code`; undefined if that is no LifetimePolicy. Throws as FieldReader. */
export function decodeLifetimePolicy(code: number, fields: FieldReader): LifetimePolicy | undefined {
  switch (code) {
    case Descriptor.deleteOnClose:
      return DeleteOnClose.decode(fields);
    case Descriptor.deleteOnNoLinks:
      return DeleteOnNoLinks.decode(fields);
    case Descriptor.deleteOnNoMessages:
      return DeleteOnNoMessages.decode(fields);
    case Descriptor.deleteOnNoLinksOrMessages:
      return DeleteOnNoLinksOrMessages.decode(fields);
    default:
      return undefined;
  }
}

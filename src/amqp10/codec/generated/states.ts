// Generated from tools/codegen/amqp10/definition.json by tools/codegen/main.ts. Do not edit.
/** Errors, delivery states and outcomes (§2.8.14, §3.4, §4.5). */
import type { FieldReader } from '../field-reader.js';
import type { ListWriter } from '../list-writer.js';
import type { MapValue } from '../values.js';
import { Descriptor } from './descriptors.js';

const nothing = new Uint8Array(0);

const errorFields = ['condition', 'description', 'info'] as const;

/** error */
export class ErrorFields {
  readonly descriptor: typeof Descriptor.error = Descriptor.error;
  condition: string = '';
  description: string | undefined = undefined;
  info: MapValue | undefined = undefined;

  static decode(fields: FieldReader): ErrorFields {
    fields.expect('error', errorFields);
    const it = new ErrorFields();
    it.condition = fields.symbol() ?? fields.missing();
    it.description = fields.string();
    it.info = fields.fields();
    fields.finish();
    return it;
  }

  encode(writer: ListWriter): void {
    writer.begin(Descriptor.error);
    writer.symbol(this.condition);
    writer.string(this.description);
    writer.fields(this.info);
    writer.end();
  }
}

const receivedFields = ['section-number', 'section-offset'] as const;

/** received */
export class Received {
  readonly descriptor: typeof Descriptor.received = Descriptor.received;
  sectionNumber: number = 0;
  sectionOffset: number = 0;

  static decode(fields: FieldReader): Received {
    fields.expect('received', receivedFields);
    const it = new Received();
    it.sectionNumber = fields.uint() ?? fields.missing();
    it.sectionOffset = fields.ulong() ?? fields.missing();
    fields.finish();
    return it;
  }

  encode(writer: ListWriter): void {
    writer.begin(Descriptor.received);
    writer.uint(this.sectionNumber);
    writer.ulong(this.sectionOffset);
    writer.end();
  }
}

const acceptedFields = [] as const;

/** accepted */
export class Accepted {
  readonly descriptor: typeof Descriptor.accepted = Descriptor.accepted;

  static decode(fields: FieldReader): Accepted {
    fields.expect('accepted', acceptedFields);
    const it = new Accepted();
    fields.finish();
    return it;
  }

  encode(writer: ListWriter): void {
    writer.begin(Descriptor.accepted);
    writer.end();
  }
}

const rejectedFields = ['error'] as const;

/** rejected */
export class Rejected {
  readonly descriptor: typeof Descriptor.rejected = Descriptor.rejected;
  error: ErrorFields | undefined = undefined;

  static decode(fields: FieldReader): Rejected {
    fields.expect('rejected', rejectedFields);
    const it = new Rejected();
    it.error = fields.nested(decodeErrorFields);
    fields.finish();
    return it;
  }

  encode(writer: ListWriter): void {
    writer.begin(Descriptor.rejected);
    writer.nested(this.error);
    writer.end();
  }
}

const releasedFields = [] as const;

/** released */
export class Released {
  readonly descriptor: typeof Descriptor.released = Descriptor.released;

  static decode(fields: FieldReader): Released {
    fields.expect('released', releasedFields);
    const it = new Released();
    fields.finish();
    return it;
  }

  encode(writer: ListWriter): void {
    writer.begin(Descriptor.released);
    writer.end();
  }
}

const modifiedFields = ['delivery-failed', 'undeliverable-here', 'message-annotations'] as const;

/** modified */
export class Modified {
  readonly descriptor: typeof Descriptor.modified = Descriptor.modified;
  deliveryFailed: boolean = false;
  undeliverableHere: boolean = false;
  messageAnnotations: MapValue | undefined = undefined;

  static decode(fields: FieldReader): Modified {
    fields.expect('modified', modifiedFields);
    const it = new Modified();
    it.deliveryFailed = fields.boolean() ?? false;
    it.undeliverableHere = fields.boolean() ?? false;
    it.messageAnnotations = fields.fields();
    fields.finish();
    return it;
  }

  encode(writer: ListWriter): void {
    writer.begin(Descriptor.modified);
    writer.boolean(this.deliveryFailed === false ? undefined : this.deliveryFailed);
    writer.boolean(this.undeliverableHere === false ? undefined : this.undeliverableHere);
    writer.fields(this.messageAnnotations);
    writer.end();
  }
}

const declaredFields = ['txn-id'] as const;

/** declared */
export class Declared {
  readonly descriptor: typeof Descriptor.declared = Descriptor.declared;
  txnId: Uint8Array = nothing;

  static decode(fields: FieldReader): Declared {
    fields.expect('declared', declaredFields);
    const it = new Declared();
    it.txnId = fields.binary() ?? fields.missing();
    fields.finish();
    return it;
  }

  encode(writer: ListWriter): void {
    writer.begin(Descriptor.declared);
    writer.binary(this.txnId);
    writer.end();
  }
}

const transactionalStateFields = ['txn-id', 'outcome'] as const;

/** transactional-state */
export class TransactionalState {
  readonly descriptor: typeof Descriptor.transactionalState = Descriptor.transactionalState;
  txnId: Uint8Array = nothing;
  outcome: DeliveryState | undefined = undefined;

  static decode(fields: FieldReader): TransactionalState {
    fields.expect('transactional-state', transactionalStateFields);
    const it = new TransactionalState();
    it.txnId = fields.binary() ?? fields.missing();
    it.outcome = fields.nested(decodeDeliveryState);
    fields.finish();
    return it;
  }

  encode(writer: ListWriter): void {
    writer.begin(Descriptor.transactionalState);
    writer.binary(this.txnId);
    writer.nested(this.outcome);
    writer.end();
  }
}

export function decodeErrorFields(code: number, fields: FieldReader): ErrorFields | undefined {
  return code === Descriptor.error ? ErrorFields.decode(fields) : undefined;
}

export type DeliveryState = Received | Accepted | Rejected | Released | Modified | Declared | TransactionalState;

/** Reads the list behind the descriptor `code`; undefined if that is no DeliveryState. Throws as FieldReader. */
export function decodeDeliveryState(code: number, fields: FieldReader): DeliveryState | undefined {
  switch (code) {
    case Descriptor.received:
      return Received.decode(fields);
    case Descriptor.accepted:
      return Accepted.decode(fields);
    case Descriptor.rejected:
      return Rejected.decode(fields);
    case Descriptor.released:
      return Released.decode(fields);
    case Descriptor.modified:
      return Modified.decode(fields);
    case Descriptor.declared:
      return Declared.decode(fields);
    case Descriptor.transactionalState:
      return TransactionalState.decode(fields);
    default:
      return undefined;
  }
}

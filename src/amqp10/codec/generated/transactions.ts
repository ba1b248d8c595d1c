// Generated from tools/codegen/amqp10/definition.json by tools/codegen/main.ts. Do not edit.
/** What is sent to a transaction coordinator (§4.5). */
import type { FieldReader } from '../field-reader.js';
import type { ListWriter } from '../list-writer.js';
import type { Value } from '../values.js';
import { Descriptor } from './descriptors.js';

const nothing = new Uint8Array(0);

const declareFields = ['global-id'] as const;

/** declare */
export class Declare {
  readonly descriptor: typeof Descriptor.declare = Descriptor.declare;
  globalId: Value | undefined = undefined;

  static decode(fields: FieldReader): Declare {
    fields.expect('declare', declareFields);
    const it = new Declare();
    it.globalId = fields.any();
    fields.finish();
    return it;
  }

  encode(writer: ListWriter): void {
    writer.begin(Descriptor.declare);
    writer.any(this.globalId);
    writer.end();
  }
}

const dischargeFields = ['txn-id', 'fail'] as const;

/** discharge */
export class Discharge {
  readonly descriptor: typeof Descriptor.discharge = Descriptor.discharge;
  txnId: Uint8Array = nothing;
  fail: boolean = false;

  static decode(fields: FieldReader): Discharge {
    fields.expect('discharge', dischargeFields);
    const it = new Discharge();
    it.txnId = fields.binary() ?? fields.missing();
    it.fail = fields.boolean() ?? false;
    fields.finish();
    return it;
  }

  encode(writer: ListWriter): void {
    writer.begin(Descriptor.discharge);
    writer.binary(this.txnId);
    writer.boolean(this.fail === false ? undefined : this.fail);
    writer.end();
  }
}

export type CoordinatorMessage = Declare | Discharge;

/** Reads the list behind the descriptor `code`; undefined if that is no CoordinatorMessage. Throws as FieldReader. */
export function decodeCoordinatorMessage(code: number, fields: FieldReader): CoordinatorMessage | undefined {
  switch (code) {
    case Descriptor.declare:
      return Declare.decode(fields);
    case Descriptor.discharge:
      return Discharge.decode(fields);
    default:
      return undefined;
  }
}

// Generated from tools/codegen/amqp091.json by tools/codegen/main.ts. Do not edit.
/** The methods of class confirm (85). */
import type { ByteReader } from '../../../wire/byte-reader.js';
import type { ByteWriter } from '../../../wire/byte-writer.js';
import { MethodId } from './ids.js';

/** confirm.select */
export class ConfirmSelect {
  readonly id: typeof MethodId.confirmSelect = MethodId.confirmSelect;
  readonly noWait: boolean;

  constructor(noWait: boolean) {
    this.noWait = noWait;
  }

  static decode(reader: ByteReader): ConfirmSelect {
    const bits = reader.u8();
    return new ConfirmSelect((bits & 1) !== 0);
  }

  encode(writer: ByteWriter): void {
    writer.u8(this.noWait ? 1 : 0);
  }
}

/** confirm.select-ok */
export class ConfirmSelectOk {
  readonly id: typeof MethodId.confirmSelectOk = MethodId.confirmSelectOk;

  static decode(_reader: ByteReader): ConfirmSelectOk {
    return new ConfirmSelectOk();
  }

  encode(_writer: ByteWriter): void {}
}

export type ConfirmMethod = ConfirmSelect | ConfirmSelectOk;

// Generated from tools/codegen/amqp091.json by tools/codegen/main.ts. Do not edit.
/** The methods of class tx (90). */
import type { ByteReader } from '../../../wire/byte-reader.js';
import type { ByteWriter } from '../../../wire/byte-writer.js';
import { MethodId } from './ids.js';

/** tx.select */
export class TxSelect {
  readonly id: typeof MethodId.txSelect = MethodId.txSelect;

  static decode(_reader: ByteReader): TxSelect {
    return new TxSelect();
  }

  encode(_writer: ByteWriter): void {}
}

/** tx.select-ok */
export class TxSelectOk {
  readonly id: typeof MethodId.txSelectOk = MethodId.txSelectOk;

  static decode(_reader: ByteReader): TxSelectOk {
    return new TxSelectOk();
  }

  encode(_writer: ByteWriter): void {}
}

/** tx.commit */
export class TxCommit {
  readonly id: typeof MethodId.txCommit = MethodId.txCommit;

  static decode(_reader: ByteReader): TxCommit {
    return new TxCommit();
  }

  encode(_writer: ByteWriter): void {}
}

/** tx.commit-ok */
export class TxCommitOk {
  readonly id: typeof MethodId.txCommitOk = MethodId.txCommitOk;

  static decode(_reader: ByteReader): TxCommitOk {
    return new TxCommitOk();
  }

  encode(_writer: ByteWriter): void {}
}

/** tx.rollback */
export class TxRollback {
  readonly id: typeof MethodId.txRollback = MethodId.txRollback;

  static decode(_reader: ByteReader): TxRollback {
    return new TxRollback();
  }

  encode(_writer: ByteWriter): void {}
}

/** tx.rollback-ok */
export class TxRollbackOk {
  readonly id: typeof MethodId.txRollbackOk = MethodId.txRollbackOk;

  static decode(_reader: ByteReader): TxRollbackOk {
    return new TxRollbackOk();
  }

  encode(_writer: ByteWriter): void {}
}

export type TxMethod = TxSelect | TxSelectOk | TxCommit | TxCommitOk | TxRollback | TxRollbackOk;

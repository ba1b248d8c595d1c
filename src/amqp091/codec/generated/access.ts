// Generated from tools/codegen/amqp091.json by tools/codegen/main.ts. Do not edit.
/** The methods of class access (30). */
import type { ByteReader } from '../../../wire/byte-reader.js';
import type { ByteWriter } from '../../../wire/byte-writer.js';
import { readShortString, writeShortString } from '../strings.js';
import { MethodId } from './ids.js';

/** access.request */
export class AccessRequest {
  readonly id: typeof MethodId.accessRequest = MethodId.accessRequest;
  readonly realm: string;
  readonly exclusive: boolean;
  readonly passive: boolean;
  readonly active: boolean;
  readonly write: boolean;
  readonly read: boolean;

  constructor(realm: string, exclusive: boolean, passive: boolean, active: boolean, write: boolean, read: boolean) {
    this.realm = realm;
    this.exclusive = exclusive;
    this.passive = passive;
    this.active = active;
    this.write = write;
    this.read = read;
  }

  static decode(reader: ByteReader): AccessRequest {
    const realm = readShortString(reader);
    const bits = reader.u8();
    return new AccessRequest(
      realm,
      (bits & 1) !== 0,
      (bits & 2) !== 0,
      (bits & 4) !== 0,
      (bits & 8) !== 0,
      (bits & 16) !== 0,
    );
  }

  encode(writer: ByteWriter): void {
    writeShortString(writer, this.realm);
    let bits = 0;
    if (this.exclusive) bits |= 1;
    if (this.passive) bits |= 2;
    if (this.active) bits |= 4;
    if (this.write) bits |= 8;
    if (this.read) bits |= 16;
    writer.u8(bits);
  }
}

/** access.request-ok */
export class AccessRequestOk {
  readonly id: typeof MethodId.accessRequestOk = MethodId.accessRequestOk;
  readonly ticket: number;

  constructor(ticket: number) {
    this.ticket = ticket;
  }

  static decode(reader: ByteReader): AccessRequestOk {
    const ticket = reader.u16();
    return new AccessRequestOk(ticket);
  }

  encode(writer: ByteWriter): void {
    writer.u16(this.ticket);
  }
}

export type AccessMethod = AccessRequest | AccessRequestOk;

// Generated from tools/codegen/amqp091.json by tools/codegen/main.ts. Do not edit.
/** The methods of class exchange (40). */
import type { Arguments } from '../../../model/broker.js';
import type { ByteReader } from '../../../wire/byte-reader.js';
import type { ByteWriter } from '../../../wire/byte-writer.js';
import { readTable, writeTable } from '../field-table.js';
import { readShortString, writeShortString } from '../strings.js';
import { MethodId } from './ids.js';

/** exchange.declare */
export class ExchangeDeclare {
  readonly id: typeof MethodId.exchangeDeclare = MethodId.exchangeDeclare;
  readonly exchange: string;
  readonly type: string;
  readonly passive: boolean;
  readonly durable: boolean;
  readonly autoDelete: boolean;
  readonly internal: boolean;
  readonly noWait: boolean;
  readonly arguments: Arguments;

  constructor(
    exchange: string,
    type: string,
    passive: boolean,
    durable: boolean,
    autoDelete: boolean,
    internal: boolean,
    noWait: boolean,
    args: Arguments,
  ) {
    this.exchange = exchange;
    this.type = type;
    this.passive = passive;
    this.durable = durable;
    this.autoDelete = autoDelete;
    this.internal = internal;
    this.noWait = noWait;
    this.arguments = args;
  }

  static decode(reader: ByteReader): ExchangeDeclare {
    reader.take(2);
    const exchange = readShortString(reader);
    const type = readShortString(reader);
    const bits = reader.u8();
    const args = readTable(reader);
    return new ExchangeDeclare(
      exchange,
      type,
      (bits & 1) !== 0,
      (bits & 2) !== 0,
      (bits & 4) !== 0,
      (bits & 8) !== 0,
      (bits & 16) !== 0,
      args,
    );
  }

  encode(writer: ByteWriter): void {
    writer.u16(0);
    writeShortString(writer, this.exchange);
    writeShortString(writer, this.type);
    let bits = 0;
    if (this.passive) bits |= 1;
    if (this.durable) bits |= 2;
    if (this.autoDelete) bits |= 4;
    if (this.internal) bits |= 8;
    if (this.noWait) bits |= 16;
    writer.u8(bits);
    writeTable(writer, this.arguments);
  }
}

/** exchange.declare-ok */
export class ExchangeDeclareOk {
  readonly id: typeof MethodId.exchangeDeclareOk = MethodId.exchangeDeclareOk;

  static decode(_reader: ByteReader): ExchangeDeclareOk {
    return new ExchangeDeclareOk();
  }

  encode(_writer: ByteWriter): void {}
}

/** exchange.delete */
export class ExchangeDelete {
  readonly id: typeof MethodId.exchangeDelete = MethodId.exchangeDelete;
  readonly exchange: string;
  readonly ifUnused: boolean;
  readonly noWait: boolean;

  constructor(exchange: string, ifUnused: boolean, noWait: boolean) {
    this.exchange = exchange;
    this.ifUnused = ifUnused;
    this.noWait = noWait;
  }

  static decode(reader: ByteReader): ExchangeDelete {
    reader.take(2);
    const exchange = readShortString(reader);
    const bits = reader.u8();
    return new ExchangeDelete(exchange, (bits & 1) !== 0, (bits & 2) !== 0);
  }

  encode(writer: ByteWriter): void {
    writer.u16(0);
    writeShortString(writer, this.exchange);
    let bits = 0;
    if (this.ifUnused) bits |= 1;
    if (this.noWait) bits |= 2;
    writer.u8(bits);
  }
}

/** exchange.delete-ok */
export class ExchangeDeleteOk {
  readonly id: typeof MethodId.exchangeDeleteOk = MethodId.exchangeDeleteOk;

  static decode(_reader: ByteReader): ExchangeDeleteOk {
    return new ExchangeDeleteOk();
  }

  encode(_writer: ByteWriter): void {}
}

/** exchange.bind */
export class ExchangeBind {
  readonly id: typeof MethodId.exchangeBind = MethodId.exchangeBind;
  readonly destination: string;
  readonly source: string;
  readonly routingKey: string;
  readonly noWait: boolean;
  readonly arguments: Arguments;

  constructor(destination: string, source: string, routingKey: string, noWait: boolean, args: Arguments) {
    this.destination = destination;
    this.source = source;
    this.routingKey = routingKey;
    this.noWait = noWait;
    this.arguments = args;
  }

  static decode(reader: ByteReader): ExchangeBind {
    reader.take(2);
    const destination = readShortString(reader);
    const source = readShortString(reader);
    const routingKey = readShortString(reader);
    const bits = reader.u8();
    const args = readTable(reader);
    return new ExchangeBind(destination, source, routingKey, (bits & 1) !== 0, args);
  }

  encode(writer: ByteWriter): void {
    writer.u16(0);
    writeShortString(writer, this.destination);
    writeShortString(writer, this.source);
    writeShortString(writer, this.routingKey);
    writer.u8(this.noWait ? 1 : 0);
    writeTable(writer, this.arguments);
  }
}

/** exchange.bind-ok */
export class ExchangeBindOk {
  readonly id: typeof MethodId.exchangeBindOk = MethodId.exchangeBindOk;

  static decode(_reader: ByteReader): ExchangeBindOk {
    return new ExchangeBindOk();
  }

  encode(_writer: ByteWriter): void {}
}

/** exchange.unbind */
export class ExchangeUnbind {
  readonly id: typeof MethodId.exchangeUnbind = MethodId.exchangeUnbind;
  readonly destination: string;
  readonly source: string;
  readonly routingKey: string;
  readonly noWait: boolean;
  readonly arguments: Arguments;

  constructor(destination: string, source: string, routingKey: string, noWait: boolean, args: Arguments) {
    this.destination = destination;
    this.source = source;
    this.routingKey = routingKey;
    this.noWait = noWait;
    this.arguments = args;
  }

  static decode(reader: ByteReader): ExchangeUnbind {
    reader.take(2);
    const destination = readShortString(reader);
    const source = readShortString(reader);
    const routingKey = readShortString(reader);
    const bits = reader.u8();
    const args = readTable(reader);
    return new ExchangeUnbind(destination, source, routingKey, (bits & 1) !== 0, args);
  }

  encode(writer: ByteWriter): void {
    writer.u16(0);
    writeShortString(writer, this.destination);
    writeShortString(writer, this.source);
    writeShortString(writer, this.routingKey);
    writer.u8(this.noWait ? 1 : 0);
    writeTable(writer, this.arguments);
  }
}

/** exchange.unbind-ok */
export class ExchangeUnbindOk {
  readonly id: typeof MethodId.exchangeUnbindOk = MethodId.exchangeUnbindOk;

  static decode(_reader: ByteReader): ExchangeUnbindOk {
    return new ExchangeUnbindOk();
  }

  encode(_writer: ByteWriter): void {}
}

export type ExchangeMethod =
  | ExchangeDeclare
  | ExchangeDeclareOk
  | ExchangeDelete
  | ExchangeDeleteOk
  | ExchangeBind
  | ExchangeBindOk
  | ExchangeUnbind
  | ExchangeUnbindOk;

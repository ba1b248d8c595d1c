// Generated from tools/codegen/amqp091.json by tools/codegen/main.ts. Do not edit.
/** The methods of class queue (50). */
import type { Arguments } from '../../../model/broker.js';
import type { ByteReader } from '../../../wire/byte-reader.js';
import type { ByteWriter } from '../../../wire/byte-writer.js';
import { readTable, writeTable } from '../field-table.js';
import { readShortString, writeShortString } from '../strings.js';
import { MethodId } from './ids.js';

/** queue.declare */
export class QueueDeclare {
  readonly id: typeof MethodId.queueDeclare = MethodId.queueDeclare;
  readonly queue: string;
  readonly passive: boolean;
  readonly durable: boolean;
  readonly exclusive: boolean;
  readonly autoDelete: boolean;
  readonly noWait: boolean;
  readonly arguments: Arguments;

  constructor(
    queue: string,
    passive: boolean,
    durable: boolean,
    exclusive: boolean,
    autoDelete: boolean,
    noWait: boolean,
    args: Arguments,
  ) {
    this.queue = queue;
    this.passive = passive;
    this.durable = durable;
    this.exclusive = exclusive;
    this.autoDelete = autoDelete;
    this.noWait = noWait;
    this.arguments = args;
  }

  static decode(reader: ByteReader): QueueDeclare {
    reader.take(2);
    const queue = readShortString(reader);
    const bits = reader.u8();
    const args = readTable(reader);
    return new QueueDeclare(
      queue,
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
    writeShortString(writer, this.queue);
    let bits = 0;
    if (this.passive) bits |= 1;
    if (this.durable) bits |= 2;
    if (this.exclusive) bits |= 4;
    if (this.autoDelete) bits |= 8;
    if (this.noWait) bits |= 16;
    writer.u8(bits);
    writeTable(writer, this.arguments);
  }
}

/** queue.declare-ok */
export class QueueDeclareOk {
  readonly id: typeof MethodId.queueDeclareOk = MethodId.queueDeclareOk;
  readonly queue: string;
  readonly messageCount: number;
  readonly consumerCount: number;

  constructor(queue: string, messageCount: number, consumerCount: number) {
    this.queue = queue;
    this.messageCount = messageCount;
    this.consumerCount = consumerCount;
  }

  static decode(reader: ByteReader): QueueDeclareOk {
    const queue = readShortString(reader);
    const messageCount = reader.u32();
    const consumerCount = reader.u32();
    return new QueueDeclareOk(queue, messageCount, consumerCount);
  }

  encode(writer: ByteWriter): void {
    writeShortString(writer, this.queue);
    writer.u32(this.messageCount);
    writer.u32(this.consumerCount);
  }
}

/** queue.bind */
export class QueueBind {
  readonly id: typeof MethodId.queueBind = MethodId.queueBind;
  readonly queue: string;
  readonly exchange: string;
  readonly routingKey: string;
  readonly noWait: boolean;
  readonly arguments: Arguments;

  constructor(queue: string, exchange: string, routingKey: string, noWait: boolean, args: Arguments) {
    this.queue = queue;
    this.exchange = exchange;
    this.routingKey = routingKey;
    this.noWait = noWait;
    this.arguments = args;
  }

  static decode(reader: ByteReader): QueueBind {
    reader.take(2);
    const queue = readShortString(reader);
    const exchange = readShortString(reader);
    const routingKey = readShortString(reader);
    const bits = reader.u8();
    const args = readTable(reader);
    return new QueueBind(queue, exchange, routingKey, (bits & 1) !== 0, args);
  }

  encode(writer: ByteWriter): void {
    writer.u16(0);
    writeShortString(writer, this.queue);
    writeShortString(writer, this.exchange);
    writeShortString(writer, this.routingKey);
    writer.u8(this.noWait ? 1 : 0);
    writeTable(writer, this.arguments);
  }
}

/** queue.bind-ok */
export class QueueBindOk {
  readonly id: typeof MethodId.queueBindOk = MethodId.queueBindOk;

  static decode(_reader: ByteReader): QueueBindOk {
    return new QueueBindOk();
  }

  encode(_writer: ByteWriter): void {}
}

/** queue.purge */
export class QueuePurge {
  readonly id: typeof MethodId.queuePurge = MethodId.queuePurge;
  readonly queue: string;
  readonly noWait: boolean;

  constructor(queue: string, noWait: boolean) {
    this.queue = queue;
    this.noWait = noWait;
  }

  static decode(reader: ByteReader): QueuePurge {
    reader.take(2);
    const queue = readShortString(reader);
    const bits = reader.u8();
    return new QueuePurge(queue, (bits & 1) !== 0);
  }

  encode(writer: ByteWriter): void {
    writer.u16(0);
    writeShortString(writer, this.queue);
    writer.u8(this.noWait ? 1 : 0);
  }
}

/** queue.purge-ok */
export class QueuePurgeOk {
  readonly id: typeof MethodId.queuePurgeOk = MethodId.queuePurgeOk;
  readonly messageCount: number;

  constructor(messageCount: number) {
    this.messageCount = messageCount;
  }

  static decode(reader: ByteReader): QueuePurgeOk {
    const messageCount = reader.u32();
    return new QueuePurgeOk(messageCount);
  }

  encode(writer: ByteWriter): void {
    writer.u32(this.messageCount);
  }
}

/** queue.delete */
export class QueueDelete {
  readonly id: typeof MethodId.queueDelete = MethodId.queueDelete;
  readonly queue: string;
  readonly ifUnused: boolean;
  readonly ifEmpty: boolean;
  readonly noWait: boolean;

  constructor(queue: string, ifUnused: boolean, ifEmpty: boolean, noWait: boolean) {
    this.queue = queue;
    this.ifUnused = ifUnused;
    this.ifEmpty = ifEmpty;
    this.noWait = noWait;
  }

  static decode(reader: ByteReader): QueueDelete {
    reader.take(2);
    const queue = readShortString(reader);
    const bits = reader.u8();
    return new QueueDelete(queue, (bits & 1) !== 0, (bits & 2) !== 0, (bits & 4) !== 0);
  }

  encode(writer: ByteWriter): void {
    writer.u16(0);
    writeShortString(writer, this.queue);
    let bits = 0;
    if (this.ifUnused) bits |= 1;
    if (this.ifEmpty) bits |= 2;
    if (this.noWait) bits |= 4;
    writer.u8(bits);
  }
}

/** queue.delete-ok */
export class QueueDeleteOk {
  readonly id: typeof MethodId.queueDeleteOk = MethodId.queueDeleteOk;
  readonly messageCount: number;

  constructor(messageCount: number) {
    this.messageCount = messageCount;
  }

  static decode(reader: ByteReader): QueueDeleteOk {
    const messageCount = reader.u32();
    return new QueueDeleteOk(messageCount);
  }

  encode(writer: ByteWriter): void {
    writer.u32(this.messageCount);
  }
}

/** queue.unbind */
export class QueueUnbind {
  readonly id: typeof MethodId.queueUnbind = MethodId.queueUnbind;
  readonly queue: string;
  readonly exchange: string;
  readonly routingKey: string;
  readonly arguments: Arguments;

  constructor(queue: string, exchange: string, routingKey: string, args: Arguments) {
    this.queue = queue;
    this.exchange = exchange;
    this.routingKey = routingKey;
    this.arguments = args;
  }

  static decode(reader: ByteReader): QueueUnbind {
    reader.take(2);
    const queue = readShortString(reader);
    const exchange = readShortString(reader);
    const routingKey = readShortString(reader);
    const args = readTable(reader);
    return new QueueUnbind(queue, exchange, routingKey, args);
  }

  encode(writer: ByteWriter): void {
    writer.u16(0);
    writeShortString(writer, this.queue);
    writeShortString(writer, this.exchange);
    writeShortString(writer, this.routingKey);
    writeTable(writer, this.arguments);
  }
}

/** queue.unbind-ok */
export class QueueUnbindOk {
  readonly id: typeof MethodId.queueUnbindOk = MethodId.queueUnbindOk;

  static decode(_reader: ByteReader): QueueUnbindOk {
    return new QueueUnbindOk();
  }

  encode(_writer: ByteWriter): void {}
}

export type QueueMethod =
  | QueueDeclare
  | QueueDeclareOk
  | QueueBind
  | QueueBindOk
  | QueuePurge
  | QueuePurgeOk
  | QueueDelete
  | QueueDeleteOk
  | QueueUnbind
  | QueueUnbindOk;

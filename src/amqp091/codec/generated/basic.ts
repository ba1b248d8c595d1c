// Generated from tools/codegen/amqp091.json by tools/codegen/main.ts. Do not edit.
/** The methods of class basic (60). */
import type { Arguments } from '../../../model/broker.js';
import type { ByteReader } from '../../../wire/byte-reader.js';
import type { ByteWriter } from '../../../wire/byte-writer.js';
import { readTable, writeTable } from '../field-table.js';
import { readShortString, writeShortString } from '../strings.js';
import { MethodId } from './ids.js';

/** basic.qos */
export class BasicQos {
  readonly id: typeof MethodId.basicQos = MethodId.basicQos;
  readonly prefetchSize: number;
  readonly prefetchCount: number;
  readonly global: boolean;

  constructor(prefetchSize: number, prefetchCount: number, global: boolean) {
    this.prefetchSize = prefetchSize;
    this.prefetchCount = prefetchCount;
    this.global = global;
  }

  static decode(reader: ByteReader): BasicQos {
    const prefetchSize = reader.u32();
    const prefetchCount = reader.u16();
    const bits = reader.u8();
    return new BasicQos(prefetchSize, prefetchCount, (bits & 1) !== 0);
  }

  encode(writer: ByteWriter): void {
    writer.u32(this.prefetchSize);
    writer.u16(this.prefetchCount);
    writer.u8(this.global ? 1 : 0);
  }
}

/** basic.qos-ok */
export class BasicQosOk {
  readonly id: typeof MethodId.basicQosOk = MethodId.basicQosOk;

  static decode(_reader: ByteReader): BasicQosOk {
    return new BasicQosOk();
  }

  encode(_writer: ByteWriter): void {}
}

/** basic.consume */
export class BasicConsume {
  readonly id: typeof MethodId.basicConsume = MethodId.basicConsume;
  readonly queue: string;
  readonly consumerTag: string;
  readonly noLocal: boolean;
  readonly noAck: boolean;
  readonly exclusive: boolean;
  readonly noWait: boolean;
  readonly arguments: Arguments;

  constructor(
    queue: string,
    consumerTag: string,
    noLocal: boolean,
    noAck: boolean,
    exclusive: boolean,
    noWait: boolean,
    args: Arguments,
  ) {
    this.queue = queue;
    this.consumerTag = consumerTag;
    this.noLocal = noLocal;
    this.noAck = noAck;
    this.exclusive = exclusive;
    this.noWait = noWait;
    this.arguments = args;
  }

  static decode(reader: ByteReader): BasicConsume {
    reader.take(2);
    const queue = readShortString(reader);
    const consumerTag = readShortString(reader);
    const bits = reader.u8();
    const args = readTable(reader);
    return new BasicConsume(
      queue,
      consumerTag,
      (bits & 1) !== 0,
      (bits & 2) !== 0,
      (bits & 4) !== 0,
      (bits & 8) !== 0,
      args,
    );
  }

  encode(writer: ByteWriter): void {
    writer.u16(0);
    writeShortString(writer, this.queue);
    writeShortString(writer, this.consumerTag);
    let bits = 0;
    if (this.noLocal) bits |= 1;
    if (this.noAck) bits |= 2;
    if (this.exclusive) bits |= 4;
    if (this.noWait) bits |= 8;
    writer.u8(bits);
    writeTable(writer, this.arguments);
  }
}

/** basic.consume-ok */
export class BasicConsumeOk {
  readonly id: typeof MethodId.basicConsumeOk = MethodId.basicConsumeOk;
  readonly consumerTag: string;

  constructor(consumerTag: string) {
    this.consumerTag = consumerTag;
  }

  static decode(reader: ByteReader): BasicConsumeOk {
    const consumerTag = readShortString(reader);
    return new BasicConsumeOk(consumerTag);
  }

  encode(writer: ByteWriter): void {
    writeShortString(writer, this.consumerTag);
  }
}

/** basic.cancel */
export class BasicCancel {
  readonly id: typeof MethodId.basicCancel = MethodId.basicCancel;
  readonly consumerTag: string;
  readonly noWait: boolean;

  constructor(consumerTag: string, noWait: boolean) {
    this.consumerTag = consumerTag;
    this.noWait = noWait;
  }

  static decode(reader: ByteReader): BasicCancel {
    const consumerTag = readShortString(reader);
    const bits = reader.u8();
    return new BasicCancel(consumerTag, (bits & 1) !== 0);
  }

  encode(writer: ByteWriter): void {
    writeShortString(writer, this.consumerTag);
    writer.u8(this.noWait ? 1 : 0);
  }
}

/** basic.cancel-ok */
export class BasicCancelOk {
  readonly id: typeof MethodId.basicCancelOk = MethodId.basicCancelOk;
  readonly consumerTag: string;

  constructor(consumerTag: string) {
    this.consumerTag = consumerTag;
  }

  static decode(reader: ByteReader): BasicCancelOk {
    const consumerTag = readShortString(reader);
    return new BasicCancelOk(consumerTag);
  }

  encode(writer: ByteWriter): void {
    writeShortString(writer, this.consumerTag);
  }
}

/** basic.publish */
export class BasicPublish {
  readonly id: typeof MethodId.basicPublish = MethodId.basicPublish;
  readonly exchange: string;
  readonly routingKey: string;
  readonly mandatory: boolean;
  readonly immediate: boolean;

  constructor(exchange: string, routingKey: string, mandatory: boolean, immediate: boolean) {
    this.exchange = exchange;
    this.routingKey = routingKey;
    this.mandatory = mandatory;
    this.immediate = immediate;
  }

  static decode(reader: ByteReader): BasicPublish {
    reader.take(2);
    const exchange = readShortString(reader);
    const routingKey = readShortString(reader);
    const bits = reader.u8();
    return new BasicPublish(exchange, routingKey, (bits & 1) !== 0, (bits & 2) !== 0);
  }

  encode(writer: ByteWriter): void {
    writer.u16(0);
    writeShortString(writer, this.exchange);
    writeShortString(writer, this.routingKey);
    let bits = 0;
    if (this.mandatory) bits |= 1;
    if (this.immediate) bits |= 2;
    writer.u8(bits);
  }
}

/** basic.return */
export class BasicReturn {
  readonly id: typeof MethodId.basicReturn = MethodId.basicReturn;
  readonly replyCode: number;
  readonly replyText: string;
  readonly exchange: string;
  readonly routingKey: string;

  constructor(replyCode: number, replyText: string, exchange: string, routingKey: string) {
    this.replyCode = replyCode;
    this.replyText = replyText;
    this.exchange = exchange;
    this.routingKey = routingKey;
  }

  static decode(reader: ByteReader): BasicReturn {
    const replyCode = reader.u16();
    const replyText = readShortString(reader);
    const exchange = readShortString(reader);
    const routingKey = readShortString(reader);
    return new BasicReturn(replyCode, replyText, exchange, routingKey);
  }

  encode(writer: ByteWriter): void {
    writer.u16(this.replyCode);
    writeShortString(writer, this.replyText);
    writeShortString(writer, this.exchange);
    writeShortString(writer, this.routingKey);
  }
}

/** basic.deliver */
export class BasicDeliver {
  readonly id: typeof MethodId.basicDeliver = MethodId.basicDeliver;
  readonly consumerTag: string;
  readonly deliveryTag: number;
  readonly redelivered: boolean;
  readonly exchange: string;
  readonly routingKey: string;

  constructor(consumerTag: string, deliveryTag: number, redelivered: boolean, exchange: string, routingKey: string) {
    this.consumerTag = consumerTag;
    this.deliveryTag = deliveryTag;
    this.redelivered = redelivered;
    this.exchange = exchange;
    this.routingKey = routingKey;
  }

  static decode(reader: ByteReader): BasicDeliver {
    const consumerTag = readShortString(reader);
    const deliveryTag = reader.u64();
    const bits = reader.u8();
    const exchange = readShortString(reader);
    const routingKey = readShortString(reader);
    return new BasicDeliver(consumerTag, deliveryTag, (bits & 1) !== 0, exchange, routingKey);
  }

  encode(writer: ByteWriter): void {
    writeShortString(writer, this.consumerTag);
    writer.u64(this.deliveryTag);
    writer.u8(this.redelivered ? 1 : 0);
    writeShortString(writer, this.exchange);
    writeShortString(writer, this.routingKey);
  }
}

/** basic.get */
export class BasicGet {
  readonly id: typeof MethodId.basicGet = MethodId.basicGet;
  readonly queue: string;
  readonly noAck: boolean;

  constructor(queue: string, noAck: boolean) {
    this.queue = queue;
    this.noAck = noAck;
  }

  static decode(reader: ByteReader): BasicGet {
    reader.take(2);
    const queue = readShortString(reader);
    const bits = reader.u8();
    return new BasicGet(queue, (bits & 1) !== 0);
  }

  encode(writer: ByteWriter): void {
    writer.u16(0);
    writeShortString(writer, this.queue);
    writer.u8(this.noAck ? 1 : 0);
  }
}

/** basic.get-ok */
export class BasicGetOk {
  readonly id: typeof MethodId.basicGetOk = MethodId.basicGetOk;
  readonly deliveryTag: number;
  readonly redelivered: boolean;
  readonly exchange: string;
  readonly routingKey: string;
  readonly messageCount: number;

  constructor(deliveryTag: number, redelivered: boolean, exchange: string, routingKey: string, messageCount: number) {
    this.deliveryTag = deliveryTag;
    this.redelivered = redelivered;
    this.exchange = exchange;
    this.routingKey = routingKey;
    this.messageCount = messageCount;
  }

  static decode(reader: ByteReader): BasicGetOk {
    const deliveryTag = reader.u64();
    const bits = reader.u8();
    const exchange = readShortString(reader);
    const routingKey = readShortString(reader);
    const messageCount = reader.u32();
    return new BasicGetOk(deliveryTag, (bits & 1) !== 0, exchange, routingKey, messageCount);
  }

  encode(writer: ByteWriter): void {
    writer.u64(this.deliveryTag);
    writer.u8(this.redelivered ? 1 : 0);
    writeShortString(writer, this.exchange);
    writeShortString(writer, this.routingKey);
    writer.u32(this.messageCount);
  }
}

/** basic.get-empty */
export class BasicGetEmpty {
  readonly id: typeof MethodId.basicGetEmpty = MethodId.basicGetEmpty;

  static decode(reader: ByteReader): BasicGetEmpty {
    reader.take(reader.u8());
    return new BasicGetEmpty();
  }

  encode(writer: ByteWriter): void {
    writer.u8(0);
  }
}

/** basic.ack */
export class BasicAck {
  readonly id: typeof MethodId.basicAck = MethodId.basicAck;
  readonly deliveryTag: number;
  readonly multiple: boolean;

  constructor(deliveryTag: number, multiple: boolean) {
    this.deliveryTag = deliveryTag;
    this.multiple = multiple;
  }

  static decode(reader: ByteReader): BasicAck {
    const deliveryTag = reader.u64();
    const bits = reader.u8();
    return new BasicAck(deliveryTag, (bits & 1) !== 0);
  }

  encode(writer: ByteWriter): void {
    writer.u64(this.deliveryTag);
    writer.u8(this.multiple ? 1 : 0);
  }
}

/** basic.reject */
export class BasicReject {
  readonly id: typeof MethodId.basicReject = MethodId.basicReject;
  readonly deliveryTag: number;
  readonly requeue: boolean;

  constructor(deliveryTag: number, requeue: boolean) {
    this.deliveryTag = deliveryTag;
    this.requeue = requeue;
  }

  static decode(reader: ByteReader): BasicReject {
    const deliveryTag = reader.u64();
    const bits = reader.u8();
    return new BasicReject(deliveryTag, (bits & 1) !== 0);
  }

  encode(writer: ByteWriter): void {
    writer.u64(this.deliveryTag);
    writer.u8(this.requeue ? 1 : 0);
  }
}

/** basic.recover-async */
export class BasicRecoverAsync {
  readonly id: typeof MethodId.basicRecoverAsync = MethodId.basicRecoverAsync;
  readonly requeue: boolean;

  constructor(requeue: boolean) {
    this.requeue = requeue;
  }

  static decode(reader: ByteReader): BasicRecoverAsync {
    const bits = reader.u8();
    return new BasicRecoverAsync((bits & 1) !== 0);
  }

  encode(writer: ByteWriter): void {
    writer.u8(this.requeue ? 1 : 0);
  }
}

/** basic.recover */
export class BasicRecover {
  readonly id: typeof MethodId.basicRecover = MethodId.basicRecover;
  readonly requeue: boolean;

  constructor(requeue: boolean) {
    this.requeue = requeue;
  }

  static decode(reader: ByteReader): BasicRecover {
    const bits = reader.u8();
    return new BasicRecover((bits & 1) !== 0);
  }

  encode(writer: ByteWriter): void {
    writer.u8(this.requeue ? 1 : 0);
  }
}

/** basic.recover-ok */
export class BasicRecoverOk {
  readonly id: typeof MethodId.basicRecoverOk = MethodId.basicRecoverOk;

  static decode(_reader: ByteReader): BasicRecoverOk {
    return new BasicRecoverOk();
  }

  encode(_writer: ByteWriter): void {}
}

/** basic.nack */
export class BasicNack {
  readonly id: typeof MethodId.basicNack = MethodId.basicNack;
  readonly deliveryTag: number;
  readonly multiple: boolean;
  readonly requeue: boolean;

  constructor(deliveryTag: number, multiple: boolean, requeue: boolean) {
    this.deliveryTag = deliveryTag;
    this.multiple = multiple;
    this.requeue = requeue;
  }

  static decode(reader: ByteReader): BasicNack {
    const deliveryTag = reader.u64();
    const bits = reader.u8();
    return new BasicNack(deliveryTag, (bits & 1) !== 0, (bits & 2) !== 0);
  }

  encode(writer: ByteWriter): void {
    writer.u64(this.deliveryTag);
    let bits = 0;
    if (this.multiple) bits |= 1;
    if (this.requeue) bits |= 2;
    writer.u8(bits);
  }
}

export type BasicMethod =
  | BasicQos
  | BasicQosOk
  | BasicConsume
  | BasicConsumeOk
  | BasicCancel
  | BasicCancelOk
  | BasicPublish
  | BasicReturn
  | BasicDeliver
  | BasicGet
  | BasicGetOk
  | BasicGetEmpty
  | BasicAck
  | BasicReject
  | BasicRecoverAsync
  | BasicRecover
  | BasicRecoverOk
  | BasicNack;

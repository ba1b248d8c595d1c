// Generated from tools/codegen/amqp091.json by tools/codegen/main.ts. Do not edit.
/** The methods of class channel (20). */
import type { ByteReader } from '../../../wire/byte-reader.js';
import type { ByteWriter } from '../../../wire/byte-writer.js';
import { readShortString, writeShortString } from '../strings.js';
import { MethodId } from './ids.js';

/** channel.open */
export class ChannelOpen {
  readonly id: typeof MethodId.channelOpen = MethodId.channelOpen;

  static decode(reader: ByteReader): ChannelOpen {
    reader.take(reader.u8());
    return new ChannelOpen();
  }

  encode(writer: ByteWriter): void {
    writer.u8(0);
  }
}

/** channel.open-ok */
export class ChannelOpenOk {
  readonly id: typeof MethodId.channelOpenOk = MethodId.channelOpenOk;

  static decode(reader: ByteReader): ChannelOpenOk {
    reader.take(reader.u32());
    return new ChannelOpenOk();
  }

  encode(writer: ByteWriter): void {
    writer.u32(0);
  }
}

/** channel.flow */
export class ChannelFlow {
  readonly id: typeof MethodId.channelFlow = MethodId.channelFlow;
  readonly active: boolean;

  constructor(active: boolean) {
    this.active = active;
  }

  static decode(reader: ByteReader): ChannelFlow {
    const bits = reader.u8();
    return new ChannelFlow((bits & 1) !== 0);
  }

  encode(writer: ByteWriter): void {
    writer.u8(this.active ? 1 : 0);
  }
}

/** channel.flow-ok */
export class ChannelFlowOk {
  readonly id: typeof MethodId.channelFlowOk = MethodId.channelFlowOk;
  readonly active: boolean;

  constructor(active: boolean) {
    this.active = active;
  }

  static decode(reader: ByteReader): ChannelFlowOk {
    const bits = reader.u8();
    return new ChannelFlowOk((bits & 1) !== 0);
  }

  encode(writer: ByteWriter): void {
    writer.u8(this.active ? 1 : 0);
  }
}

/** channel.close */
export class ChannelClose {
  readonly id: typeof MethodId.channelClose = MethodId.channelClose;
  readonly replyCode: number;
  readonly replyText: string;
  readonly classId: number;
  readonly methodId: number;

  constructor(replyCode: number, replyText: string, classId: number, methodId: number) {
    this.replyCode = replyCode;
    this.replyText = replyText;
    this.classId = classId;
    this.methodId = methodId;
  }

  static decode(reader: ByteReader): ChannelClose {
    const replyCode = reader.u16();
    const replyText = readShortString(reader);
    const classId = reader.u16();
    const methodId = reader.u16();
    return new ChannelClose(replyCode, replyText, classId, methodId);
  }

  encode(writer: ByteWriter): void {
    writer.u16(this.replyCode);
    writeShortString(writer, this.replyText);
    writer.u16(this.classId);
    writer.u16(this.methodId);
  }
}

/** channel.close-ok */
export class ChannelCloseOk {
  readonly id: typeof MethodId.channelCloseOk = MethodId.channelCloseOk;

  static decode(_reader: ByteReader): ChannelCloseOk {
    return new ChannelCloseOk();
  }

  encode(_writer: ByteWriter): void {}
}

export type ChannelMethod = ChannelOpen | ChannelOpenOk | ChannelFlow | ChannelFlowOk | ChannelClose | ChannelCloseOk;

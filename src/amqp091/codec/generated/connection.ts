// Generated from tools/codegen/amqp091.json by tools/codegen/main.ts. Do not edit.
/** The methods of class connection (10). */
import type { Arguments } from '../../../model/broker.js';
import type { ByteReader } from '../../../wire/byte-reader.js';
import type { ByteWriter } from '../../../wire/byte-writer.js';
import { readTable, writeTable } from '../field-table.js';
import {
  readLongBytes,
  readLongString,
  readShortString,
  writeLongBytes,
  writeLongString,
  writeShortString,
} from '../strings.js';
import { MethodId } from './ids.js';

/** connection.start */
export class ConnectionStart {
  readonly id: typeof MethodId.connectionStart = MethodId.connectionStart;
  readonly versionMajor: number;
  readonly versionMinor: number;
  readonly serverProperties: Arguments;
  readonly mechanisms: string;
  readonly locales: string;

  constructor(
    versionMajor: number,
    versionMinor: number,
    serverProperties: Arguments,
    mechanisms: string,
    locales: string,
  ) {
    this.versionMajor = versionMajor;
    this.versionMinor = versionMinor;
    this.serverProperties = serverProperties;
    this.mechanisms = mechanisms;
    this.locales = locales;
  }

  static decode(reader: ByteReader): ConnectionStart {
    const versionMajor = reader.u8();
    const versionMinor = reader.u8();
    const serverProperties = readTable(reader);
    const mechanisms = readLongString(reader);
    const locales = readLongString(reader);
    return new ConnectionStart(versionMajor, versionMinor, serverProperties, mechanisms, locales);
  }

  encode(writer: ByteWriter): void {
    writer.u8(this.versionMajor);
    writer.u8(this.versionMinor);
    writeTable(writer, this.serverProperties);
    writeLongString(writer, this.mechanisms);
    writeLongString(writer, this.locales);
  }
}

/** connection.start-ok */
export class ConnectionStartOk {
  readonly id: typeof MethodId.connectionStartOk = MethodId.connectionStartOk;
  readonly clientProperties: Arguments;
  readonly mechanism: string;
  readonly response: Uint8Array;
  readonly locale: string;

  constructor(clientProperties: Arguments, mechanism: string, response: Uint8Array, locale: string) {
    this.clientProperties = clientProperties;
    this.mechanism = mechanism;
    this.response = response;
    this.locale = locale;
  }

  static decode(reader: ByteReader): ConnectionStartOk {
    const clientProperties = readTable(reader);
    const mechanism = readShortString(reader);
    const response = readLongBytes(reader);
    const locale = readShortString(reader);
    return new ConnectionStartOk(clientProperties, mechanism, response, locale);
  }

  encode(writer: ByteWriter): void {
    writeTable(writer, this.clientProperties);
    writeShortString(writer, this.mechanism);
    writeLongBytes(writer, this.response);
    writeShortString(writer, this.locale);
  }
}

/** connection.secure */
export class ConnectionSecure {
  readonly id: typeof MethodId.connectionSecure = MethodId.connectionSecure;
  readonly challenge: Uint8Array;

  constructor(challenge: Uint8Array) {
    this.challenge = challenge;
  }

  static decode(reader: ByteReader): ConnectionSecure {
    const challenge = readLongBytes(reader);
    return new ConnectionSecure(challenge);
  }

  encode(writer: ByteWriter): void {
    writeLongBytes(writer, this.challenge);
  }
}

/** connection.secure-ok */
export class ConnectionSecureOk {
  readonly id: typeof MethodId.connectionSecureOk = MethodId.connectionSecureOk;
  readonly response: Uint8Array;

  constructor(response: Uint8Array) {
    this.response = response;
  }

  static decode(reader: ByteReader): ConnectionSecureOk {
    const response = readLongBytes(reader);
    return new ConnectionSecureOk(response);
  }

  encode(writer: ByteWriter): void {
    writeLongBytes(writer, this.response);
  }
}

/** connection.tune */
export class ConnectionTune {
  readonly id: typeof MethodId.connectionTune = MethodId.connectionTune;
  readonly channelMax: number;
  readonly frameMax: number;
  readonly heartbeat: number;

  constructor(channelMax: number, frameMax: number, heartbeat: number) {
    this.channelMax = channelMax;
    this.frameMax = frameMax;
    this.heartbeat = heartbeat;
  }

  static decode(reader: ByteReader): ConnectionTune {
    const channelMax = reader.u16();
    const frameMax = reader.u32();
    const heartbeat = reader.u16();
    return new ConnectionTune(channelMax, frameMax, heartbeat);
  }

  encode(writer: ByteWriter): void {
    writer.u16(this.channelMax);
    writer.u32(this.frameMax);
    writer.u16(this.heartbeat);
  }
}

/** connection.tune-ok */
export class ConnectionTuneOk {
  readonly id: typeof MethodId.connectionTuneOk = MethodId.connectionTuneOk;
  readonly channelMax: number;
  readonly frameMax: number;
  readonly heartbeat: number;

  constructor(channelMax: number, frameMax: number, heartbeat: number) {
    this.channelMax = channelMax;
    this.frameMax = frameMax;
    this.heartbeat = heartbeat;
  }

  static decode(reader: ByteReader): ConnectionTuneOk {
    const channelMax = reader.u16();
    const frameMax = reader.u32();
    const heartbeat = reader.u16();
    return new ConnectionTuneOk(channelMax, frameMax, heartbeat);
  }

  encode(writer: ByteWriter): void {
    writer.u16(this.channelMax);
    writer.u32(this.frameMax);
    writer.u16(this.heartbeat);
  }
}

/** connection.open */
export class ConnectionOpen {
  readonly id: typeof MethodId.connectionOpen = MethodId.connectionOpen;
  readonly virtualHost: string;

  constructor(virtualHost: string) {
    this.virtualHost = virtualHost;
  }

  static decode(reader: ByteReader): ConnectionOpen {
    const virtualHost = readShortString(reader);
    reader.take(reader.u8());
    reader.take(1);
    return new ConnectionOpen(virtualHost);
  }

  encode(writer: ByteWriter): void {
    writeShortString(writer, this.virtualHost);
    writer.u8(0);
    writer.u8(0);
  }
}

/** connection.open-ok */
export class ConnectionOpenOk {
  readonly id: typeof MethodId.connectionOpenOk = MethodId.connectionOpenOk;

  static decode(reader: ByteReader): ConnectionOpenOk {
    reader.take(reader.u8());
    return new ConnectionOpenOk();
  }

  encode(writer: ByteWriter): void {
    writer.u8(0);
  }
}

/** connection.close */
export class ConnectionClose {
  readonly id: typeof MethodId.connectionClose = MethodId.connectionClose;
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

  static decode(reader: ByteReader): ConnectionClose {
    const replyCode = reader.u16();
    const replyText = readShortString(reader);
    const classId = reader.u16();
    const methodId = reader.u16();
    return new ConnectionClose(replyCode, replyText, classId, methodId);
  }

  encode(writer: ByteWriter): void {
    writer.u16(this.replyCode);
    writeShortString(writer, this.replyText);
    writer.u16(this.classId);
    writer.u16(this.methodId);
  }
}

/** connection.close-ok */
export class ConnectionCloseOk {
  readonly id: typeof MethodId.connectionCloseOk = MethodId.connectionCloseOk;

  static decode(_reader: ByteReader): ConnectionCloseOk {
    return new ConnectionCloseOk();
  }

  encode(_writer: ByteWriter): void {}
}

/** connection.blocked */
export class ConnectionBlocked {
  readonly id: typeof MethodId.connectionBlocked = MethodId.connectionBlocked;
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }

  static decode(reader: ByteReader): ConnectionBlocked {
    const reason = readShortString(reader);
    return new ConnectionBlocked(reason);
  }

  encode(writer: ByteWriter): void {
    writeShortString(writer, this.reason);
  }
}

/** connection.unblocked */
export class ConnectionUnblocked {
  readonly id: typeof MethodId.connectionUnblocked = MethodId.connectionUnblocked;

  static decode(_reader: ByteReader): ConnectionUnblocked {
    return new ConnectionUnblocked();
  }

  encode(_writer: ByteWriter): void {}
}

/** connection.update-secret */
export class ConnectionUpdateSecret {
  readonly id: typeof MethodId.connectionUpdateSecret = MethodId.connectionUpdateSecret;
  readonly newSecret: Uint8Array;
  readonly reason: string;

  constructor(newSecret: Uint8Array, reason: string) {
    this.newSecret = newSecret;
    this.reason = reason;
  }

  static decode(reader: ByteReader): ConnectionUpdateSecret {
    const newSecret = readLongBytes(reader);
    const reason = readShortString(reader);
    return new ConnectionUpdateSecret(newSecret, reason);
  }

  encode(writer: ByteWriter): void {
    writeLongBytes(writer, this.newSecret);
    writeShortString(writer, this.reason);
  }
}

/** connection.update-secret-ok */
export class ConnectionUpdateSecretOk {
  readonly id: typeof MethodId.connectionUpdateSecretOk = MethodId.connectionUpdateSecretOk;

  static decode(_reader: ByteReader): ConnectionUpdateSecretOk {
    return new ConnectionUpdateSecretOk();
  }

  encode(_writer: ByteWriter): void {}
}

export type ConnectionMethod =
  | ConnectionStart
  | ConnectionStartOk
  | ConnectionSecure
  | ConnectionSecureOk
  | ConnectionTune
  | ConnectionTuneOk
  | ConnectionOpen
  | ConnectionOpenOk
  | ConnectionClose
  | ConnectionCloseOk
  | ConnectionBlocked
  | ConnectionUnblocked
  | ConnectionUpdateSecret
  | ConnectionUpdateSecretOk;

/** Reads the fields of a described list without an object or a string. */
import { readU32 } from '../../wire/bytes.js';
import { AmqpError, decodeFailure } from './amqp-error.js';
import { Code } from './format-codes.js';
import { Condition } from './generated/conditions.js';
import { describeCode, skipValue } from './value-reader.js';

/** A field that is null or not there, where a number is expected. */
export const absent: number = -1;

/** Fields of a list where they lie; `left` counts those that are not read. */
export class HotReader {
  bytes: Uint8Array = new Uint8Array(0);
  at = 0;
  end = 0;
  private left = 0;
  private type = '';

  /** Points at the list behind the descriptor at `start`, which may have any form. */
  beginSection(type: string, bytes: Uint8Array, start: number, end: number): void {
    const isUsual = bytes[start + 1] === Code.smallUlong;
    this.begin(type, bytes, isUsual ? start : skipValue(bytes, start + 1, end) - 3, end);
  }

  /** Points at the list behind the three bytes of its descriptor at `start`. */
  begin(type: string, bytes: Uint8Array, start: number, end: number): void {
    this.bytes = bytes;
    this.type = type;
    const at = start + 3;
    const kind = at < end ? bytes[at] : undefined;
    if (kind === Code.list8 && at + 3 <= end) {
      this.left = bytes[at + 2]!;
      this.at = at + 3;
      this.end = at + 2 + bytes[at + 1]!;
    } else if (kind === Code.list32 && at + 9 <= end) {
      this.left = readU32(bytes, at + 5);
      this.at = at + 9;
      this.end = at + 5 + readU32(bytes, at + 1);
    } else if (kind === Code.list0) {
      this.left = 0;
      this.at = at + 1;
      this.end = at + 1;
    } else throw this.failure('its list is cut short, or none');
    if (this.end > end || this.at > this.end) throw this.failure('its list is cut short');
  }

  /** Whether another field is there and not null; if so, `at` is where it begins. */
  private get isThere(): boolean {
    if (this.left === 0) return false;
    this.left--;
    if (this.at >= this.end) throw this.failure('a field is cut short');
    if (this.bytes[this.at] !== Code.null) return true;
    this.at++;
    return false;
  }

  uint(): number {
    if (!this.isThere) return absent;
    const { bytes, at, end } = this;
    const code = bytes[at];
    if (code === Code.smallUint && at + 2 <= end) {
      this.at = at + 2;
      return bytes[at + 1]!;
    }
    if (code === Code.uint && at + 5 <= end) {
      this.at = at + 5;
      return readU32(bytes, at + 1);
    }
    if (code !== Code.uint0) throw this.wrong('uint');
    this.at = at + 1;
    return 0;
  }

  ubyte(): number {
    if (!this.isThere) return absent;
    const { bytes, at } = this;
    if (bytes[at] !== Code.ubyte || at + 2 > this.end) throw this.wrong('ubyte');
    this.at = at + 2;
    return bytes[at + 1]!;
  }

  /** @param otherwise if it is null or not there */
  boolean(otherwise: boolean): boolean {
    if (!this.isThere) return otherwise;
    const { bytes, at } = this;
    const code = bytes[at];
    if (code === Code.true || code === Code.false) {
      this.at = at + 1;
      return code === Code.true;
    }
    if (code !== Code.boolean || at + 2 > this.end || bytes[at + 1]! > 1) throw this.wrong('boolean');
    this.at = at + 2;
    return bytes[at + 1] === 1;
  }

  /** 1 or 0; `absent`. */
  flag(): number {
    if (this.left === 0 || this.at >= this.end || this.bytes[this.at] !== Code.null) {
      if (this.left === 0) return absent;
      return this.boolean(false) ? 1 : 0;
    }
    this.left--;
    this.at++;
    return absent;
  }

  /** Steps over a field; whether it is there. */
  skip(): boolean {
    return this.value() !== absent;
  }

  /** Length of a binary value, whose bytes end where `at` is then; `absent` if there is none. */
  binary(): number {
    if (!this.isThere) return absent;
    const { bytes, at, end } = this;
    if (bytes[at] === Code.binary8 && at + 2 <= end) {
      const length = bytes[at + 1]!;
      this.at = at + 2 + length;
      if (this.at > end) throw this.wrong('binary');
      return length;
    }
    if (bytes[at] !== Code.binary32 || at + 5 > end) throw this.wrong('binary');
    const length = readU32(bytes, at + 1);
    this.at = at + 5 + length;
    if (this.at > end) throw this.wrong('binary');
    return length;
  }

  /** Where a value of any type begins, `absent` if there is none; `at` is its end then. */
  value(): number {
    if (!this.isThere) return absent;
    const { at } = this;
    try {
      this.at = skipValue(this.bytes, at, this.end);
    } catch (error) {
      throw decodeFailure(error, this.type);
    }
    return at;
  }

  /** Steps over the fields that are left. @param fieldsMax that the type has, behind those that were read */
  finish(fieldsMax: number): void {
    if (this.left > fieldsMax) throw this.failure('it has too many fields');
    while (this.left > 0) this.value();
    if (this.at !== this.end) throw this.failure('bytes follow its last field');
  }

  missing(name: string): never {
    throw new AmqpError(Condition.invalidField, `${this.type} has no ${name}, which is mandatory`);
  }

  failure(what: string): AmqpError {
    return new AmqpError(Condition.decodeError, `cannot decode ${this.type}: ${what}`);
  }

  private wrong(expected: string): AmqpError {
    return this.failure(`a ${describeCode(this.bytes[this.at]!)}, ${expected} expected, or it is cut short`);
  }
}

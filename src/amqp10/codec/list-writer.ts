/** Writes described lists field by field. Fields at the end that are not there are left out (§1.4). */
import type { ByteWriter } from '../../wire/byte-writer.js';
import { Code } from './format-codes.js';
import type { MapValue, Value } from './values.js';
import {
  beginCompound,
  endCompound,
  writeBinary,
  writeString,
  writeSymbol,
  writeUint,
  writeUlong,
  writeValue,
} from './value-writer.js';
import { ArrayValue, symbol } from './values.js';

/** Whatever writes itself as a described list. */
export interface Composite {
  encode(writer: ListWriter): void;
}

export class ListWriter {
  readonly output: ByteWriter;
  /** Where size and count of the present list stand. */
  private listAt = 0;
  /** Fields so far, and how many of them up to the last that is there, which ends at `lastEnd`. */
  private count = 0;
  private lastCount = 0;
  private lastEnd = 0;

  constructor(output: ByteWriter) {
    this.output = output;
  }

  begin(descriptor: number): void {
    const { output } = this;
    output.u8(Code.described);
    output.u8(Code.smallUlong);
    output.u8(descriptor);
    this.listAt = beginCompound(output, Code.list32);
    this.count = 0;
    this.lastCount = 0;
    this.lastEnd = output.length;
  }

  end(): void {
    const { output, listAt, lastCount } = this;
    if (lastCount === 0) {
      output.rewind(listAt - 1);
      output.u8(Code.list0);
      return;
    }
    output.rewind(this.lastEnd);
    endCompound(output, listAt, lastCount);
  }

  // A field each; undefined is null.

  boolean(value: boolean | undefined): void {
    if (value === undefined) return this.absent();
    this.output.u8(value ? Code.true : Code.false);
    this.written();
  }

  ubyte(value: number | undefined): void {
    if (value === undefined) return this.absent();
    this.output.u8(Code.ubyte);
    this.output.u8(value);
    this.written();
  }

  ushort(value: number | undefined): void {
    if (value === undefined) return this.absent();
    this.output.u8(Code.ushort);
    this.output.u16(value);
    this.written();
  }

  uint(value: number | undefined): void {
    if (value === undefined) return this.absent();
    writeUint(this.output, value);
    this.written();
  }

  ulong(value: number | undefined): void {
    if (value === undefined) return this.absent();
    writeUlong(this.output, value < 2 ** 64 ? BigInt(value) : 0xffff_ffff_ffff_ffffn);
    this.written();
  }

  timestamp(value: number | undefined): void {
    if (value === undefined) return this.absent();
    this.output.u8(Code.timestamp);
    this.output.i64(BigInt(Math.trunc(value)));
    this.written();
  }

  string(value: string | undefined): void {
    if (value === undefined) return this.absent();
    writeString(this.output, value);
    this.written();
  }

  symbol(value: string | undefined): void {
    if (value === undefined) return this.absent();
    writeSymbol(this.output, value);
    this.written();
  }

  symbols(value: readonly string[] | undefined): void {
    this.any(value === undefined ? undefined : new ArrayValue('symbol', value.map(symbol)));
  }

  binary(value: Uint8Array | undefined): void {
    if (value === undefined) return this.absent();
    writeBinary(this.output, value);
    this.written();
  }

  any(value: Value | undefined): void {
    if (value === undefined || value === null) return this.absent();
    writeValue(this.output, value);
    this.written();
  }

  map(value: MapValue | undefined): void {
    this.any(value);
  }

  fields(value: MapValue | undefined): void {
    this.any(value);
  }

  nested(value: Composite | undefined): void {
    if (value === undefined) return this.absent();
    const { listAt, count, lastCount, lastEnd } = this;
    value.encode(this);
    this.listAt = listAt;
    this.count = count;
    this.lastCount = lastCount;
    this.lastEnd = lastEnd;
    this.written();
  }

  private absent(): void {
    this.output.u8(Code.null);
    this.count++;
  }

  private written(): void {
    this.count++;
    this.lastCount = this.count;
    this.lastEnd = this.output.length;
  }
}

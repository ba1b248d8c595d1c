/**
 * How a value begins (§1.2): one octet that says its type and, in its upper half, how long it is.
 *
 *   0x00 a descriptor and a value follow     0x4. nothing follows     0x5. 1 byte   0x6. 2   0x7. 4   0x8. 8   0x9. 16
 *   0xa. u8 length, bytes     0xb. u32 length, bytes
 *   0xc. u8 size, u8 count, values     0xd. u32 size, u32 count, values
 *   0xe. u8 size, u8 count, one constructor for all, values without     0xf. the same with u32
 */
export const Code = {
  described: 0x00,
  null: 0x40,
  true: 0x41,
  false: 0x42,
  uint0: 0x43,
  ulong0: 0x44,
  list0: 0x45,
  ubyte: 0x50,
  byte: 0x51,
  smallUint: 0x52,
  smallUlong: 0x53,
  smallInt: 0x54,
  smallLong: 0x55,
  boolean: 0x56,
  ushort: 0x60,
  short: 0x61,
  uint: 0x70,
  int: 0x71,
  float: 0x72,
  char: 0x73,
  decimal32: 0x74,
  ulong: 0x80,
  long: 0x81,
  double: 0x82,
  timestamp: 0x83,
  decimal64: 0x84,
  decimal128: 0x94,
  uuid: 0x98,
  binary8: 0xa0,
  string8: 0xa1,
  symbol8: 0xa3,
  binary32: 0xb0,
  string32: 0xb1,
  symbol32: 0xb3,
  list8: 0xc0,
  map8: 0xc1,
  list32: 0xd0,
  map32: 0xd1,
  array8: 0xe0,
  array32: 0xf0,
} as const;
export type Code = (typeof Code)[keyof typeof Code];

/** The types' names as the specification has them. */
export type TypeName =
  | 'null'
  | 'boolean'
  | 'ubyte'
  | 'ushort'
  | 'uint'
  | 'ulong'
  | 'byte'
  | 'short'
  | 'int'
  | 'long'
  | 'float'
  | 'double'
  | 'decimal32'
  | 'decimal64'
  | 'decimal128'
  | 'char'
  | 'timestamp'
  | 'uuid'
  | 'binary'
  | 'string'
  | 'symbol'
  | 'list'
  | 'map'
  | 'array';

const typeNames: readonly (TypeName | undefined)[] = (() => {
  const names = new Array<TypeName | undefined>(256).fill(undefined);
  const put = (name: TypeName, ...codes: number[]): void => {
    for (const code of codes) names[code] = name;
  };
  put('null', Code.null);
  put('boolean', Code.true, Code.false, Code.boolean);
  put('ubyte', Code.ubyte);
  put('ushort', Code.ushort);
  put('uint', Code.uint, Code.smallUint, Code.uint0);
  put('ulong', Code.ulong, Code.smallUlong, Code.ulong0);
  put('byte', Code.byte);
  put('short', Code.short);
  put('int', Code.int, Code.smallInt);
  put('long', Code.long, Code.smallLong);
  put('float', Code.float);
  put('double', Code.double);
  put('decimal32', Code.decimal32);
  put('decimal64', Code.decimal64);
  put('decimal128', Code.decimal128);
  put('char', Code.char);
  put('timestamp', Code.timestamp);
  put('uuid', Code.uuid);
  put('binary', Code.binary8, Code.binary32);
  put('string', Code.string8, Code.string32);
  put('symbol', Code.symbol8, Code.symbol32);
  put('list', Code.list0, Code.list8, Code.list32);
  put('map', Code.map8, Code.map32);
  put('array', Code.array8, Code.array32);
  return names;
})();

/** The type that begins with `code`; undefined if none does, as for described values. */
export function typeOf(code: number): TypeName | undefined {
  return typeNames[code];
}

/** `0x70`. */
export function hex(code: number): string {
  return `0x${code.toString(16).padStart(2, '0')}`;
}

/** Writes the method classes: one file per protocol class, straight-line code per method. */
import type { ClassDefinition, Field, MethodDefinition, WireType } from './definition.js';
import { pascalCase } from './definition.js';
import { banner, importNames, list, union } from './source-text.js';

const typeNames: Record<WireType, string> = {
  bit: 'boolean',
  octet: 'number',
  short: 'number',
  long: 'number',
  longlong: 'number',
  shortstr: 'string',
  longstr: 'string',
  bytes: 'Uint8Array',
  timestamp: 'number',
  table: 'Arguments',
};

const readers: Record<Exclude<WireType, 'bit'>, string> = {
  octet: 'reader.u8()',
  short: 'reader.u16()',
  long: 'reader.u32()',
  longlong: 'reader.u64()',
  shortstr: 'readShortString(reader)',
  longstr: 'readLongString(reader)',
  bytes: 'readLongBytes(reader)',
  timestamp: 'reader.u64()',
  table: 'readTable(reader)',
};

const skippers: Record<Exclude<WireType, 'bit'>, string> = {
  octet: 'reader.take(1)',
  short: 'reader.take(2)',
  long: 'reader.take(4)',
  longlong: 'reader.take(8)',
  shortstr: 'reader.take(reader.u8())',
  longstr: 'reader.take(reader.u32())',
  bytes: 'reader.take(reader.u32())',
  timestamp: 'reader.take(8)',
  table: 'reader.take(reader.u32())',
};

const writers: Record<Exclude<WireType, 'bit'>, (value: string) => string> = {
  octet: (value) => `writer.u8(${value})`,
  short: (value) => `writer.u16(${value})`,
  long: (value) => `writer.u32(${value})`,
  longlong: (value) => `writer.u64(${value})`,
  shortstr: (value) => `writeShortString(writer, ${value})`,
  longstr: (value) => `writeLongString(writer, ${value})`,
  bytes: (value) => `writeLongBytes(writer, ${value})`,
  timestamp: (value) => `writer.u64(${value})`,
  table: (value) => `writeTable(writer, ${value})`,
};

const reservedWriters: Record<Exclude<WireType, 'bit'>, string> = {
  octet: 'writer.u8(0)',
  short: 'writer.u16(0)',
  long: 'writer.u32(0)',
  longlong: 'writer.u64(0)',
  shortstr: 'writer.u8(0)',
  longstr: 'writer.u32(0)',
  bytes: 'writer.u32(0)',
  timestamp: 'writer.u64(0)',
  table: 'writer.u32(0)',
};

/** Class bodies are strict code, where `arguments` cannot be a variable. */
function variable(field: Field): string {
  return field.name === 'arguments' ? 'args' : field.name;
}

/** Neighbouring bits share an octet, lowest bit first; no method has more than eight in a row. */
function groups(fields: readonly Field[]): Field[][] {
  const result: Field[][] = [];
  for (const field of fields) {
    const last = result.at(-1);
    if (field.type === 'bit' && last?.[0]?.type === 'bit') last.push(field);
    else result.push([field]);
  }
  return result;
}

function bitTest(index: number): string {
  return `(bits & ${1 << index}) !== 0`;
}

function decodeBody(method: MethodDefinition): string {
  let text = '';
  const values: string[] = [];
  for (const group of groups(method.fields)) {
    const [field] = group;
    if (field === undefined) continue;
    if (field.type === 'bit') {
      if (group.every((bit) => bit.reserved)) {
        text += '    reader.take(1);\n';
        continue;
      }
      text += '    const bits = reader.u8();\n';
      group.forEach((bit, index) => {
        if (!bit.reserved) values.push(bitTest(index));
      });
    } else if (field.reserved) {
      text += `    ${skippers[field.type]};\n`;
    } else {
      text += `    const ${variable(field)} = ${readers[field.type]};\n`;
      values.push(variable(field));
    }
  }
  return text + list(4, `return new ${method.className}(`, values, ');');
}

function encodeBits(group: readonly Field[]): string {
  if (group.every((bit) => bit.reserved)) return '    writer.u8(0);\n';
  const [only] = group;
  if (group.length === 1 && only !== undefined) return `    writer.u8(this.${only.name} ? 1 : 0);\n`;
  let text = '    let bits = 0;\n';
  group.forEach((bit, index) => {
    if (!bit.reserved) text += `    if (this.${bit.name}) bits |= ${1 << index};\n`;
  });
  return `${text}    writer.u8(bits);\n`;
}

function encodeBody(method: MethodDefinition): string {
  let text = '';
  for (const group of groups(method.fields)) {
    const [field] = group;
    if (field === undefined) continue;
    if (field.type === 'bit') text += encodeBits(group);
    else if (field.reserved) text += `    ${reservedWriters[field.type]};\n`;
    else text += `    ${writers[field.type](`this.${field.name}`)};\n`;
  }
  return text;
}

function emitMethod(method: MethodDefinition): string {
  const fields = method.fields.filter((field) => !field.reserved);
  const id = `MethodId.${method.constantName}`;
  let text = `/** ${method.fullName} */\nexport class ${method.className} {\n`;
  text += `  readonly id: typeof ${id} = ${id};\n`;
  for (const field of fields) text += `  readonly ${field.name}: ${typeNames[field.type]};\n`;
  if (fields.length > 0) {
    const parameters = fields.map((field) => `${variable(field)}: ${typeNames[field.type]}`);
    text += `\n${list(2, 'constructor(', parameters, ') {')}`;
    for (const field of fields) text += `    this.${field.name} = ${variable(field)};\n`;
    text += '  }\n';
  }
  const used = method.fields.length > 0;
  text += `\n  static decode(${used ? 'reader' : '_reader'}: ByteReader): ${method.className} {\n`;
  text += `${decodeBody(method)}  }\n`;
  text += `\n  encode(${used ? 'writer' : '_writer'}: ByteWriter): void {`;
  return `${text}${used ? `\n${encodeBody(method)}  ` : ''}}\n}\n`;
}

const stringKinds = { bytes: 'LongBytes', longstr: 'LongString', shortstr: 'ShortString' } as const;

/** The file of one protocol class. */
export function emitClass(definition: ClassDefinition): string {
  const fields = definition.methods.flatMap((method) => method.fields.filter((field) => !field.reserved));
  const types = new Set(fields.map((field) => field.type));
  const kinds = (['bytes', 'longstr', 'shortstr'] as const).filter((type) => types.has(type));
  const strings = ['read', 'write'].flatMap((verb) => kinds.map((type) => verb + stringKinds[type]));
  let text = `${banner}/** The methods of class ${definition.name} (${definition.id}). */\n`;
  if (types.has('table')) text += importNames(['Arguments'], '../../../model/broker.js', true);
  text += importNames(['ByteReader'], '../../../wire/byte-reader.js', true);
  text += importNames(['ByteWriter'], '../../../wire/byte-writer.js', true);
  if (types.has('table')) text += importNames(['readTable', 'writeTable'], '../field-table.js');
  if (strings.length > 0) text += importNames(strings, '../strings.js');
  text += importNames(['MethodId'], './ids.js');
  text += definition.methods.map((method) => `\n${emitMethod(method)}`).join('');
  const members = definition.methods.map((method) => method.className);
  return `${text}\n${union(`${pascalCase(definition.name)}Method`, members)}`;
}

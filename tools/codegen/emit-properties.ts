/** Writes the content properties of class basic. */
import type { ClassDefinition, Field } from './definition.js';
import { banner, importNames } from './source-text.js';

function flag(index: number): string {
  return `0x${(0x8000 >>> index).toString(16).padStart(4, '0')}`;
}

function typeName(field: Field): string {
  if (field.type === 'table') return 'Arguments';
  return field.type === 'shortstr' ? 'string' : 'number';
}

function read(field: Field): string {
  if (field.type === 'table') return 'readTable(reader)';
  if (field.type === 'shortstr') return 'readLooseString(reader)';
  return field.type === 'octet' ? 'reader.u8()' : 'reader.u64()';
}

function write(field: Field): string {
  const value = `this.${field.name}`;
  if (field.type === 'table') return `writeTable(writer, ${value})`;
  if (field.type === 'shortstr') return `writeShortString(writer, ${value})`;
  return field.type === 'octet' ? `writer.u8(${value})` : `writer.u64(${value})`;
}

/** properties.ts */
export function emitProperties(definition: ClassDefinition): string {
  const { properties } = definition;
  let text = banner;
  text += importNames(['Arguments'], '../../../model/broker.js', true);
  text += importNames(['ByteReader'], '../../../wire/byte-reader.js', true);
  text += importNames(['ByteWriter'], '../../../wire/byte-writer.js', true);
  text += importNames(['readTable', 'writeTable'], '../field-table.js');
  text += importNames(['readLooseString', 'writeShortString'], '../strings.js');
  text += '\n/** Which properties are present: bits of the flags that begin the property list (§4.2.6.1). */\n';
  text += 'export const PropertyFlag = {\n';
  properties.forEach((field, index) => {
    text += `  ${field.name}: ${flag(index)},\n`;
  });
  text += '} as const;\n';
  text += '\n/** The properties of a message; undefined = absent. The timestamp is in seconds since 1970. */\n';
  text += 'export class BasicProperties {\n';
  for (const field of properties) text += `  ${field.name}: ${typeName(field)} | undefined = undefined;\n`;
  text += '\n  /** Reads flags and list. Throws DecodeError. */\n';
  text += '  static decode(reader: ByteReader): BasicProperties {\n';
  text += '    const properties = new BasicProperties();\n    const flags = reader.u16();\n';
  for (const field of properties) {
    text += `    if ((flags & PropertyFlag.${field.name}) !== 0) properties.${field.name} = ${read(field)};\n`;
  }
  text += '    return properties;\n  }\n\n  /** Writes flags and list. */\n  encode(writer: ByteWriter): void {\n';
  text += '    let flags = 0;\n';
  for (const field of properties)
    text += `    if (this.${field.name} !== undefined) flags |= PropertyFlag.${field.name};\n`;
  text += '    writer.u16(flags);\n';
  for (const field of properties) text += `    if (this.${field.name} !== undefined) ${write(field)};\n`;
  return `${text}  }\n}\n`;
}

/** Writes the classes of described lists: straight-line code for each. */
import { importNames, list, union } from '../source-text.js';
import { camelCase } from '../definition.js';
import type { CompositeType, Field, Protocol10, ScalarType, TypeFile } from './definition.js';

export const banner: string =
  '// Generated from tools/codegen/amqp10/definition.json by tools/codegen/main.ts. Do not edit.\n';

const typeNames: Record<ScalarType, string> = {
  boolean: 'boolean',
  ubyte: 'number',
  ushort: 'number',
  uint: 'number',
  ulong: 'number',
  timestamp: 'number',
  string: 'string',
  symbol: 'string',
  symbols: 'string[]',
  binary: 'Uint8Array',
  any: 'Value',
  map: 'MapValue',
  fields: 'MapValue',
};

/** What a mandatory field has before it is read. */
const emptyTexts: Partial<Record<ScalarType, string>> = {
  boolean: 'false',
  string: "''",
  symbol: "''",
  symbols: '[]',
  binary: 'nothing',
};

function typeName(field: Field): string {
  return field.isScalar ? typeNames[field.type as ScalarType] : field.type;
}

function declaration(field: Field): string {
  const type = typeName(field);
  if (field.defaultText !== undefined) return `  ${field.property}: ${type} = ${field.defaultText};\n`;
  if (!field.isMandatory) return `  ${field.property}: ${type} | undefined = undefined;\n`;
  return `  ${field.property}: ${type} = ${emptyTexts[field.type as ScalarType] ?? '0'};\n`;
}

function reading(field: Field): string {
  const read = field.isScalar ? `fields.${field.type}()` : `fields.nested(decode${field.type})`;
  const otherwise = field.isMandatory ? ' ?? fields.missing()' : '';
  return `    it.${field.property} = ${read}${field.defaultText === undefined ? otherwise : ` ?? ${field.defaultText}`};\n`;
}

function writing(field: Field): string {
  const value = `this.${field.property}`;
  if (!field.isScalar) return `    writer.nested(${value});\n`;
  if (field.defaultText !== undefined)
    return `    writer.${field.type}(${value} === ${field.defaultText} ? undefined : ${value});\n`;
  return `    writer.${field.type}(${value});\n`;
}

function emitType(type: CompositeType): string {
  const { name, className, fields } = type;
  const constant = camelCase(name);
  let text = list(
    0,
    `const ${constant}Fields = [`,
    fields.map((field) => `'${field.name}'`),
    '] as const;',
  );
  text += `\n/** ${name} */\nexport class ${className} {\n`;
  text += `  readonly descriptor: typeof Descriptor.${constant} = Descriptor.${constant};\n`;
  for (const field of fields) text += declaration(field);
  text += `\n  static decode(fields: FieldReader): ${className} {\n`;
  text += `    fields.expect('${name}', ${constant}Fields);\n    const it = new ${className}();\n`;
  for (const field of fields) text += reading(field);
  text += '    fields.finish();\n    return it;\n  }\n';
  text += `\n  encode(writer: ListWriter): void {\n    writer.begin(Descriptor.${constant});\n`;
  for (const field of fields) text += writing(field);
  return `${text}    writer.end();\n  }\n}\n`;
}

function emitUnion(name: string, members: readonly CompositeType[]): string {
  let text = union(
    name,
    members.map((member) => member.className),
  );
  text += `\n/** Reads the list behind the descriptor \`code\`; undefined if that is no ${name}. Throws as FieldReader. */\n`;
  text += `export function decode${name}(code: number, fields: FieldReader): ${name} | undefined {\n  switch (code) {\n`;
  for (const member of members)
    text += `    case Descriptor.${camelCase(member.name)}:\n      return ${member.className}.decode(fields);\n`;
  return `${text}    default:\n      return undefined;\n  }\n}\n`;
}

/** For fields of one class. */
function emitSingle({ name, className }: CompositeType): string {
  return (
    `export function decode${className}(code: number, fields: FieldReader): ${className} | undefined {\n` +
    `  return code === Descriptor.${camelCase(name)} ? ${className}.decode(fields) : undefined;\n}\n`
  );
}

function imports(file: TypeFile, protocol: Protocol10): string {
  const fields = file.types.flatMap((type) => type.fields);
  const values = new Set(fields.filter((field) => field.isScalar).map((field) => typeName(field)));
  const nested = new Set(fields.filter((field) => !field.isScalar).map((field) => field.type));
  let text = importNames(['FieldReader'], '../field-reader.js', true);
  text += importNames(['ListWriter'], '../list-writer.js', true);
  const kinds = ['MapValue', 'Value'].filter((kind) => values.has(kind));
  if (kinds.length > 0) text += importNames(kinds, '../values.js', true);
  text += importNames(['Descriptor'], './descriptors.js');
  for (const used of file.uses) {
    const other = protocol.files.find((one) => one.name === used);
    const own = [
      ...(other?.types ?? []).map((type) => type.className),
      ...(other?.unions ?? []).map((one) => one.name),
    ];
    const names = own.filter((name) => nested.has(name));
    if (names.length > 0)
      text += importNames(
        names.flatMap((name) => [`decode${name}`, `type ${name}`]),
        `./${used}.js`,
      );
  }
  return text;
}

/** Classes that stand in fields, in this or another file. */
function nestedClasses(protocol: Protocol10): Set<string> {
  const fields = protocol.files.flatMap((file) => file.types.flatMap((type) => type.fields));
  return new Set(fields.filter((field) => !field.isScalar).map((field) => field.type));
}

/** One file of the definition. */
export function emitFile(file: TypeFile, protocol: Protocol10): string {
  const nested = nestedClasses(protocol);
  let text = `${banner}/** ${file.about} */\n${imports(file, protocol)}\n`;
  const needsNothing = file.types.some((type) =>
    type.fields.some((field) => field.type === 'binary' && field.isMandatory),
  );
  if (needsNothing) text += 'const nothing = new Uint8Array(0);\n\n';
  text += file.types.map(emitType).join('\n');
  for (const type of file.types) if (nested.has(type.className)) text += `\n${emitSingle(type)}`;
  for (const { name, members } of file.unions) text += `\n${emitUnion(name, members)}`;
  return text;
}

/** descriptors.ts */
export function emitDescriptors(protocol: Protocol10): string {
  const types = protocol.files.flatMap((file) => file.types.map(({ name, code }) => ({ name, code, kind: 'list' })));
  const kinds: Record<string, string> = { data: 'binary', 'amqp-sequence': 'list', 'amqp-value': '*' };
  const others = protocol.otherDescriptors.map(({ name, code }) => ({ name, code, kind: kinds[name] ?? 'map' }));
  const all = [...types, ...others].sort((a, b) => a.code - b.code);
  let text = `${banner}\n/** What a described value is (§1.3.4): the codes of the specification's domain 0. */\nexport const Descriptor = {\n`;
  for (const { name, code } of all) text += `  ${camelCase(name)}: 0x${code.toString(16)},\n`;
  text += '} as const;\nexport type Descriptor = (typeof Descriptor)[keyof typeof Descriptor];\n';
  text +=
    '\n/** By their other, symbolic, form. */\nexport const symbolicDescriptors: ReadonlyMap<string, number> = new Map<string, number>([\n';
  for (const { name, kind } of all) text += `  ['amqp:${name}:${kind}', Descriptor.${camelCase(name)}],\n`;
  text += ']);\n\nconst names: ReadonlyMap<number, string> = new Map<number, string>([\n';
  for (const { name } of all) text += `  [Descriptor.${camelCase(name)}, '${name}'],\n`;
  text +=
    ']);\n\n/** `transfer`; what does not exist by its code. */\nexport function descriptorName(code: number): string {\n';
  return `${text}  return names.get(code) ?? \`0x\${code.toString(16)}\`;\n}\n`;
}

/** conditions.ts */
export function emitConditions(protocol: Protocol10): string {
  let text = `${banner}\n/** Why something failed (§2.8.15 to §2.8.18, §4.5.8). */\nexport const Condition = {\n`;
  for (const condition of protocol.conditions) {
    const name = camelCase(condition.replace(/^amqp:/, '').replaceAll(':', '-'));
    text += `  ${name}: '${condition}',\n`;
  }
  return `${text}} as const;\nexport type Condition = (typeof Condition)[keyof typeof Condition];\n`;
}

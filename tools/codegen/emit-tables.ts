/** Writes what concerns all methods: ids, names, who may send them, the union and its decoder; and the reply codes. */
import type { MethodDefinition, Protocol } from './definition.js';
import { camelCase, pascalCase } from './definition.js';
import { banner, importNames, methodIdLiteral, union } from './source-text.js';

function allMethods(protocol: Protocol): MethodDefinition[] {
  return protocol.classes.flatMap((definition) => definition.methods);
}

function idSet(name: string, comment: string, methods: readonly MethodDefinition[]): string {
  return (
    `\n/** ${comment} */\nexport const ${name}: ReadonlySet<number> = new Set<number>([\n` +
    `${methods.map((method) => `  MethodId.${method.constantName},\n`).join('')}]);\n`
  );
}

/** ids.ts */
export function emitIds(protocol: Protocol): string {
  const methods = allMethods(protocol);
  let text = `${banner}\n/** Frame types, the octet that ends a frame, and the least that a peer must accept. */\n`;
  text += 'export const Frame = {\n';
  for (const [name, value] of Object.entries(protocol.frames)) text += `  ${name}: ${value},\n`;
  text += '} as const;\n\nexport const ClassId = {\n';
  for (const definition of protocol.classes) text += `  ${definition.name}: ${definition.id},\n`;
  text += '} as const;\n\n/** (class id << 16) | method id, as the first four bytes of a method frame. */\n';
  text += 'export const MethodId = {\n';
  for (const method of methods) text += `  ${method.constantName}: ${methodIdLiteral(method.id)},\n`;
  text += '} as const;\nexport type MethodId = (typeof MethodId)[keyof typeof MethodId];\n';
  text += '\nconst names: ReadonlyMap<number, string> = new Map<number, string>([\n';
  for (const method of methods) text += `  [MethodId.${method.constantName}, '${method.fullName}'],\n`;
  text += ']);\n\n/** `basic.publish`; an id that does not exist as numbers, `60.41`. */\n';
  text += 'export function methodName(id: number): string {\n';
  text += '  return names.get(id) ?? `${id >>> 16}.${id & 0xffff}`;\n}\n';
  text += idSet(
    'expectsContent',
    'Methods that a content header and bodies follow.',
    methods.filter((method) => method.content),
  );
  text += idSet(
    'clientMethods',
    'Methods that a client may send.',
    methods.filter((method) => method.fromClient),
  );
  return text;
}

/** methods.ts */
export function emitMethodTable(protocol: Protocol): string {
  let text = `${banner}`;
  text += importNames(['ByteReader'], '../../../wire/byte-reader.js', true);
  const sorted = [...protocol.classes].sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const definition of sorted) {
    const names = [
      `type ${pascalCase(definition.name)}Method`,
      ...definition.methods.map((method) => method.className),
    ];
    text += importNames(names.sort(byName), `./${definition.name}.js`);
  }
  text = text.replace("from './exchange.js';\n", "from './exchange.js';\nimport { MethodId } from './ids.js';\n");
  text += '\n';
  for (const definition of sorted) text += `export * from './${definition.name}.js';\n`;
  const unions = protocol.classes.map((definition) => `${pascalCase(definition.name)}Method`);
  text += `\n/** Any method; \`id\` tells which. */\n${union('Method', unions)}`;
  text +=
    '\n/** Reads the arguments of the method `id`; undefined if there is no such method. Throws DecodeError. */\n';
  text += 'export function decodeArguments(id: number, reader: ByteReader): Method | undefined {\n  switch (id) {\n';
  for (const method of allMethods(protocol)) {
    text += `    case MethodId.${method.constantName}:\n      return ${method.className}.decode(reader);\n`;
  }
  return `${text}    default:\n      return undefined;\n  }\n}\n`;
}

function byName(a: string, b: string): number {
  return a.replace('type ', '') < b.replace('type ', '') ? -1 : 1;
}

/** reply-codes.ts */
export function emitReplyCodes(protocol: Protocol): string {
  let text = `${banner}\n/** Why a channel or connection is closed, or a message returned. */\nexport const ReplyCode = {\n`;
  for (const reply of protocol.replyCodes) text += `  ${camelCase(reply.name)}: ${reply.code},\n`;
  text += '} as const;\nexport type ReplyCode = (typeof ReplyCode)[keyof typeof ReplyCode];\n';
  text += '\n/** True: the error ends the connection (hard). False: it ends the channel (soft), or is none. */\n';
  text += 'export function isHardError(code: number): boolean {\n  switch (code) {\n';
  for (const reply of protocol.replyCodes) {
    if (reply.kind === 'hard') text += `    case ReplyCode.${camelCase(reply.name)}:\n`;
  }
  text += '      return true;\n    default:\n      return false;\n  }\n}\n';
  text += '\nconst names: ReadonlyMap<number, string> = new Map<number, string>([\n';
  for (const reply of protocol.replyCodes) {
    text += `  [ReplyCode.${camelCase(reply.name)}, '${reply.name.toUpperCase().replaceAll('-', '_')}'],\n`;
  }
  text += ']);\n\n/** `NOT_FOUND`; a code that does not exist as its number. */\n';
  text += 'export function replyCodeName(code: number): string {\n  return names.get(code) ?? String(code);\n}\n';
  return text;
}

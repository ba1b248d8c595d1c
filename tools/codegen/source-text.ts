/** Small helpers to write TypeScript in the formatter's own shape, so that formatting changes nothing. */

const lineWidth = 120;

export const banner: string = '// Generated from tools/codegen/amqp091.json by tools/codegen/main.ts. Do not edit.\n';

/** `before` + items + `after` on one line if it fits, else one item a line. */
export function list(indent: number, before: string, items: readonly string[], after: string): string {
  const pad = ' '.repeat(indent);
  const line = `${pad}${before}${items.join(', ')}${after}`;
  if (line.length <= lineWidth || items.length === 0) return `${line}\n`;
  return `${pad}${before}\n${items.map((item) => `${pad}  ${item},\n`).join('')}${pad}${after}\n`;
}

/** An import of several names; `type` if they are only types. */
export function importNames(names: readonly string[], from: string, type = false): string {
  const keyword = type ? 'import type' : 'import';
  const line = `${keyword} { ${names.join(', ')} } from '${from}';`;
  if (line.length <= lineWidth) return `${line}\n`;
  return `${keyword} {\n${names.map((name) => `  ${name},\n`).join('')}} from '${from}';\n`;
}

/** 0x003c_0028: class and method, readable. */
export function methodIdLiteral(id: number): string {
  const hex = id.toString(16).padStart(8, '0');
  return `0x${hex.slice(0, 4)}_${hex.slice(4)}`;
}

/** An exported union type. */
export function union(name: string, members: readonly string[]): string {
  const line = `export type ${name} = ${members.join(' | ')};`;
  if (line.length <= lineWidth) return `${line}\n`;
  return `export type ${name} =\n${members.map((member) => `  | ${member}`).join('\n')};\n`;
}

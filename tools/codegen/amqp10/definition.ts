/** The described types of AMQP 1.0 as the generator sees them: definition.json, parsed and checked. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { camelCase, pascalCase } from '../definition.js';

/** Types of fields as FieldReader and ListWriter know them. */
export const scalarTypes = [
  'boolean',
  'ubyte',
  'ushort',
  'uint',
  'ulong',
  'timestamp',
  'string',
  'symbol',
  'symbols',
  'binary',
  'any',
  'map',
  'fields',
] as const;
export type ScalarType = (typeof scalarTypes)[number];

export interface Field {
  /** As in the specification: `link-credit`. */
  name: string;
  /** `linkCredit`. */
  property: string;
  /** A scalar type, or the name of a class or union in a generated file. */
  type: string;
  isScalar: boolean;
  isMandatory: boolean;
  /** As TypeScript has it. */
  defaultText: string | undefined;
}

export interface CompositeType {
  name: string;
  className: string;
  code: number;
  fields: Field[];
}

export interface TypeFile {
  name: string;
  about: string;
  uses: string[];
  types: CompositeType[];
  unions: { name: string; members: CompositeType[] }[];
}

export interface Protocol10 {
  files: TypeFile[];
  /** Sections that are no lists. */
  otherDescriptors: { name: string; code: number }[];
  conditions: string[];
}

interface TypeSource {
  name: string;
  class?: string;
  code: string;
  fields: string[];
}

interface ProtocolSource {
  files: { name: string; about: string; uses?: string[]; union?: Record<string, string[]>; types: TypeSource[] }[];
  otherDescriptors: { name: string; code: string }[];
  conditions: string[];
}

function parseField(text: string): Field {
  const match = /^([a-z-]+):([A-Za-z]+)(!)?(?:=(.+))?$/.exec(text);
  if (match === null) throw new Error(`field ${text}: not understood`);
  const [, name = '', type = '', mandatory, defaultText] = match;
  const isScalar = (scalarTypes as readonly string[]).includes(type);
  return {
    name,
    property: camelCase(name),
    type: type === 'error' ? 'ErrorFields' : type,
    isScalar,
    isMandatory: mandatory !== undefined,
    defaultText,
  };
}

function parseType(source: TypeSource): CompositeType {
  return {
    name: source.name,
    className: source.class ?? pascalCase(source.name),
    code: Number(source.code),
    fields: source.fields.map(parseField),
  };
}

/** Reads the definition under the repository's root. */
export function loadProtocol10(root: string): Protocol10 {
  const text = readFileSync(join(root, 'tools/codegen/amqp10/definition.json'), 'utf8');
  const source = JSON.parse(text) as ProtocolSource;
  return {
    files: source.files.map((file) => {
      const types = file.types.map(parseType);
      const find = (name: string): CompositeType => {
        const type = types.find((one) => one.name === name);
        if (type === undefined) throw new Error(`union of ${file.name}: there is no ${name}`);
        return type;
      };
      const unions = Object.entries(file.union ?? {}).map(([name, members]) => ({ name, members: members.map(find) }));
      return { name: file.name, about: file.about, uses: file.uses ?? [], types, unions };
    }),
    otherDescriptors: source.otherDescriptors.map(({ name, code }) => ({ name, code: Number(code) })),
    conditions: source.conditions,
  };
}

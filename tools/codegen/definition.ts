/** The protocol definition as the generator sees it: amqp091.json, parsed and resolved. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export type WireType =
  | 'bit'
  | 'octet'
  | 'short'
  | 'long'
  | 'longlong'
  | 'shortstr'
  | 'longstr'
  | 'bytes'
  | 'timestamp'
  | 'table';

export interface Field {
  /** In camel case. */
  name: string;
  type: WireType;
  /** Written as zero or empty, skipped when read. */
  reserved: boolean;
}

export interface MethodDefinition {
  /** As in the specification: `queue.declare-ok`. */
  fullName: string;
  /** `QueueDeclareOk`. */
  className: string;
  /** `queueDeclareOk`. */
  constantName: string;
  /** (class id << 16) | method id. */
  id: number;
  fields: Field[];
  fromClient: boolean;
  content: boolean;
}

export interface ClassDefinition {
  name: string;
  id: number;
  methods: MethodDefinition[];
  /** Content properties, in the order of their flags; empty if the class carries no content. */
  properties: Field[];
}

export interface ReplyCodeDefinition {
  name: string;
  code: number;
  kind: 'success' | 'soft' | 'hard';
}

export interface Protocol {
  frames: { method: number; header: number; body: number; heartbeat: number; end: number; minSize: number };
  replyCodes: ReplyCodeDefinition[];
  classes: ClassDefinition[];
}

interface MethodSource {
  name: string;
  id: number;
  from: string[];
  content?: boolean;
  fields: string[];
}

interface ProtocolSource {
  frames: Protocol['frames'];
  types: WireType[];
  domains: Record<string, WireType>;
  replyCodes: ReplyCodeDefinition[];
  classes: { name: string; id: number; methods: MethodSource[]; properties?: string[] }[];
}

/** `get-empty` → `getEmpty`. */
export function camelCase(name: string): string {
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** `get-empty` → `GetEmpty`. */
export function pascalCase(name: string): string {
  const camel = camelCase(name);
  return camel.charAt(0).toUpperCase() + camel.slice(1);
}

function resolveField(text: string, source: ProtocolSource): Field {
  const [name = '', domain = ''] = text.split(':');
  const type = source.domains[domain];
  if (type === undefined || !source.types.includes(type)) throw new Error(`field ${text}: no such domain`);
  return { name: camelCase(name), type, reserved: name.startsWith('reserved-') };
}

function resolveMethod(method: MethodSource, className: string, classId: number, source: ProtocolSource) {
  return {
    fullName: `${className}.${method.name}`,
    className: pascalCase(`${className}-${method.name}`),
    constantName: camelCase(`${className}-${method.name}`),
    id: classId * 0x1_0000 + method.id,
    fields: method.fields.map((field) => resolveField(field, source)),
    fromClient: method.from.includes('client'),
    content: method.content ?? false,
  };
}

/** Reads `tools/codegen/amqp091.json` under the repository's root. */
export function loadProtocol(root: string): Protocol {
  const source = JSON.parse(readFileSync(join(root, 'tools/codegen/amqp091.json'), 'utf8')) as ProtocolSource;
  return {
    frames: source.frames,
    replyCodes: source.replyCodes,
    classes: source.classes.map((definition) => ({
      name: definition.name,
      id: definition.id,
      methods: definition.methods.map((method) => resolveMethod(method, definition.name, definition.id, source)),
      properties: (definition.properties ?? []).map((field) => resolveField(field, source)),
    })),
  };
}

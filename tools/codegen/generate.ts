/** From the definition to the files of src/amqp091/codec/generated, as text. */
import { loadProtocol } from './definition.js';
import { emitClass } from './emit-methods.js';
import { emitProperties } from './emit-properties.js';
import { emitIds, emitMethodTable, emitReplyCodes } from './emit-tables.js';

/** Where the generated files live, from the repository's root. */
export const generatedFolder = 'src/amqp091/codec/generated';

/** File name → content. */
export function generate(root: string): Map<string, string> {
  const protocol = loadProtocol(root);
  const files = new Map<string, string>();
  files.set('ids.ts', emitIds(protocol));
  files.set('reply-codes.ts', emitReplyCodes(protocol));
  files.set('methods.ts', emitMethodTable(protocol));
  for (const definition of protocol.classes) {
    files.set(`${definition.name}.ts`, emitClass(definition));
    if (definition.properties.length > 0) files.set('properties.ts', emitProperties(definition));
  }
  return files;
}

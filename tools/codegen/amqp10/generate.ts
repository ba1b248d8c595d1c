/** From the definition to the files of src/amqp10/codec/generated, as text. */
import { loadProtocol10 } from './definition.js';
import { emitConditions, emitDescriptors, emitFile } from './emit-types.js';

/** Where the generated files live, from the repository's root. */
export const generatedFolder10 = 'src/amqp10/codec/generated';

/** File name → content. */
export function generate10(root: string): Map<string, string> {
  const protocol = loadProtocol10(root);
  const files = new Map<string, string>();
  files.set('descriptors.ts', emitDescriptors(protocol));
  files.set('conditions.ts', emitConditions(protocol));
  for (const file of protocol.files) files.set(`${file.name}.ts`, emitFile(file, protocol));
  return files;
}

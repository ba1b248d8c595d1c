/** Writes the generated part of the AMQP 0-9-1 codec. Build, then from the repository's root: `node build/tools/codegen/main.js`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generate, generatedFolder } from './generate.js';

const root = process.cwd();
mkdirSync(join(root, generatedFolder), { recursive: true });
for (const [name, text] of generate(root)) {
  writeFileSync(join(root, generatedFolder, name), text);
  console.log(join(generatedFolder, name));
}

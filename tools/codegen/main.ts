/** Writes the generated parts of the codecs. Build, then from the repository's root: `node build/tools/codegen/main.js`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generate10, generatedFolder10 } from './amqp10/generate.js';
import { generate, generatedFolder } from './generate.js';

const root = process.cwd();

function write(folder: string, files: ReadonlyMap<string, string>): void {
  mkdirSync(join(root, folder), { recursive: true });
  for (const [name, text] of files) {
    writeFileSync(join(root, folder, name), text);
    console.log(join(folder, name));
  }
}

write(generatedFolder, generate(root));
write(generatedFolder10, generate10(root));

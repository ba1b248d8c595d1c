import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Loads every test file under the folder into this process; or of `share` files in turn only those at `index`. */
export async function importTests(folder, index = 0, share = 1) {
  const names = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.test.js'));
  for (const [at, name] of names.sort().entries())
    if (at % share === index) await import(pathToFileURL(resolve(join(folder, name))).href);
}

/**
 * One broker of the process tests: adds 1 to a counter of its own and to a common one, in one swap, again and again, and
 * prints after each success its own count and how long it took in ms. Arguments: folder, key.
 */
import { openLocal } from './ports.js';

const [folder, key] = process.argv.slice(2) as [string, string];
const coordinator = await openLocal(folder);
const read = async (name: string) => (await coordinator.read(name))[0] ?? { key: name, value: '0', version: 0 };
let entries = [await read(key), await read('sum')];
for (;;) {
  const began = performance.now();
  for (;;) {
    const result = await coordinator.swap(
      entries.map((entry) => ({ key: entry.key, expect: entry.version, value: String(Number(entry.value) + 1) })),
    );
    entries = result.entries.map((entry) => (entry.version ? entry : { ...entry, value: '0' }));
    if (result.ok) break;
  }
  process.stdout.write(`${entries[0]!.value} ${performance.now() - began}\n`);
  await new Promise((resolve) => setTimeout(resolve, 5));
}

/**
 * Python with pika, kombu and Celery for the tests: Debian's packages, unpacked under node_modules/.cache with the interpreter, so that no other
 * Python of the machine matters. `node tools/test/python.mjs` fetches it and prints the program; npm test does so before the parts that use it.
 */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fetchPackages, homeOf, libraryFolders, neededBy } from './debian.mjs';

const packages = ['python3-pika', 'python3-celery'];
const home = homeOf('python');
/** Takes the arguments of python3. */
export const python = join(home, 'python3');

/** Throws an Error that says what to do. */
export function fetchPython() {
  if (existsSync(python)) return;
  try {
    fetchPackages('python', (lists) => neededBy(packages, lists, /^(?:lib\S+|python3\S*)$/));
    const binary = readdirSync(join(home, 'usr/bin')).find((name) => /^python3\.\d+$/.test(name));
    if (binary === undefined) throw new Error('python3 depends on no version of Python');
    const libraries = libraryFolders(home).join(':');
    // It finds its libraries and the packages from where it is itself.
    const script = `#!/bin/sh\nLD_LIBRARY_PATH=${libraries} PYTHONNOUSERSITE=1 exec ${join(home, 'usr/bin', binary)} "$@"\n`;
    writeFileSync(python, script, { mode: 0o755 });
  } catch (error) {
    throw new Error(
      `Python for the tests cannot be fetched: ${error.message}\n` +
        `It is made of Debian's packages ${packages.join(', ')} and what they need, by apt-get download and dpkg -x.`,
    );
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    fetchPython();
    console.log(python);
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}

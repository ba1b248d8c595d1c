/**
 * Qpid Proton for Python, for one of the long tests: Debian's packages, unpacked under node_modules/.cache. Nothing is installed.
 * `node tools/test/proton.mjs` fetches it; npm run test:long does so by itself. It needs Debian's own python3.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fetchPackages, homeOf } from './debian.mjs';

const packageNames = ['python3-qpid-proton', 'libqpid-proton11'];

/** Throws an Error that says what to do. */
export function fetchProton() {
  if (existsSync(join(homeOf('proton'), 'usr/lib/python3/dist-packages/proton'))) return;
  try {
    fetchPackages('proton', packageNames);
  } catch (error) {
    throw new Error(
      `Qpid Proton for the tests cannot be fetched: ${error.message}\nIt is in Debian 12: ${packageNames.join(', ')}`,
    );
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    fetchProton();
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}

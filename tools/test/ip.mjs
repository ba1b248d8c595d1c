/**
 * `ip` for the tests that make networks of their own: the system's, or that of Debian's package iproute2, fetched with the libraries that it
 * needs. `node tools/test/ip.mjs` fetches it; npm test does so before the parts that use it.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fetchPackages, homeOf, libraryFolders, neededBy, run } from './debian.mjs';

const program = 'iproute2';
const script = join(homeOf(program), 'ip');

/** Throws an Error that says what to do. */
export function fetchIp() {
  if (spawnSync('ip', ['-Version']).status === 0 || existsSync(script)) return;
  try {
    fetchPackages(program, (lists) => [program, ...neededBy([program], lists, /^lib\S+$/)]);
    const folders = libraryFolders(homeOf(program));
    const [binary] = run('find', [homeOf(program), '-type', 'f', '-name', 'ip', '-path', '*bin/ip'], '.').split('\n');
    writeFileSync(script, `#!/bin/sh\nLD_LIBRARY_PATH=${folders.join(':')} exec ${binary} "$@"\n`, {
      mode: 0o755,
    });
  } catch (error) {
    throw new Error(`ip for the tests cannot be fetched: ${error.message}\nInstall it: apt-get install ${program}`);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    fetchIp();
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}

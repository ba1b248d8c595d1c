/**
 * Qpid Proton for Python and C++, for the long tests: Debian's packages, unpacked under node_modules/.cache with the interpreter, so that no other
 * Python of the machine matters. Nothing is installed. The program in C++ is compiled by the machine's own g++. `node tools/test/proton.mjs` fetches them;
 * the tests do so by themselves.
 */
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { fetchPackages, homeOf, libraryFolders, neededBy, run } from './debian.mjs';
import { fetchPython } from './python.mjs';

const packageNames = ['python3-qpid-proton', 'libqpid-proton-cpp12-dev'];
const ofProton = /^(?:python3-qpid-proton|libqpid-proton\S*|libssl3)$/;
const source = fileURLToPath(new URL('../../test/clients/proton.cpp', import.meta.url));

/** A program that is told what to run: in Python, a file; in C++ it is itself what runs. */
function write(path, homes, settings, command) {
  const all = { LD_LIBRARY_PATH: homes.flatMap(libraryFolders).join(':'), ...settings };
  const lines = Object.entries(all).map(([name, value]) => `export ${name}=${value}\n`);
  writeFileSync(path, `#!/bin/sh\n${lines.join('')}exec ${command} "$@"\n`, { mode: 0o755 });
}

function makePython(home) {
  fetchPython();
  const interpreter = homeOf('python');
  const binary = readdirSync(join(interpreter, 'usr/bin')).find((name) => /^python3\.\d+$/.test(name));
  const settings = { PYTHONPATH: join(home, 'usr/lib/python3/dist-packages'), PYTHONNOUSERSITE: '1' };
  write(join(home, 'run'), [interpreter, home], settings, join(interpreter, 'usr/bin', binary));
}

/** Again when the program is newer. */
function makeCpp(home) {
  const binary = join(home, 'proton-cpp');
  if (existsSync(binary) && statSync(binary).mtimeMs > statSync(source).mtimeMs) return;
  const include = join(home, 'usr/include');
  // Debian's links to libraries lie in one folder with them.
  const folders = libraryFolders(home).flatMap((folder) => [`-L${folder}`, `-Wl,-rpath-link,${folder}`]);
  run('g++', ['-O1', '-o', binary, `-I${include}`, source, ...folders, '-lqpid-proton-cpp'], home);
  write(join(home, 'run-cpp'), [home], {}, binary);
}

/** Throws an Error that says what to do. */
export function fetchProton() {
  const home = homeOf('proton');
  try {
    if (
      !existsSync(join(home, 'usr/include/proton')) ||
      !existsSync(join(home, 'usr/lib/python3/dist-packages/proton'))
    )
      fetchPackages('proton', (lists) => neededBy(packageNames, lists, ofProton).concat(packageNames).filter(isFirst));
    if (!existsSync(join(home, 'run'))) makePython(home);
    makeCpp(home);
  } catch (error) {
    throw new Error(
      `Qpid Proton for the tests cannot be fetched: ${error.message}\nIt is in Debian 12: ${packageNames.join(', ')}; g++ is needed besides.`,
    );
  }
}

const isFirst = (name, index, all) => all.indexOf(name) === index;

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    fetchProton();
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}

/** Programs of Debian for the tests, unpacked under node_modules/.cache. Nothing is installed, no service started, no root needed. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const cache = join(fileURLToPath(new URL('../..', import.meta.url)), 'node_modules', '.cache', 'understudy');

/** Where that program is, or will be. */
export const homeOf = (program) => join(cache, program);

/**
 * Fetches packages, and unpacks them into the program's home. `packages`: their names, or a function that finds them, which is given what
 * the tools of apt need as arguments. Throws an Error that says what failed.
 */
export function fetchPackages(program, packages) {
  const home = homeOf(program);
  const folder = `${home}-${process.pid}`;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  try {
    withLists(folder, (lists) => {
      const names = typeof packages === 'function' ? packages(lists) : packages;
      run('apt-get', [...lists, 'download', ...names], folder);
    });
    for (const name of readdirSync(folder)) if (name.endsWith('.deb')) run('dpkg', ['-x', name, 'files'], folder);
    rmSync(home, { recursive: true, force: true });
    mkdirSync(dirname(home), { recursive: true });
    renameSync(join(folder, 'files'), home);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * The packages that those named need, and what these need in turn: those whose names match `wanted`, but for libraries that everything has, and
 * those of the package manager. `lists`: arguments for the tools of apt.
 */
export function neededBy(names, lists, wanted) {
  const none = ['recommends', 'suggests', 'conflicts', 'breaks', 'replaces', 'enhances'].map((kind) => `--no-${kind}`);
  const needed = run('apt-cache', [...lists, 'depends', '--recurse', ...none, ...names], '.').split('\n');
  const isThere = /^lib(?:c6|gcc-s1|debian-installer4|newt0.52|textwrap1|perl\S*|gdbm\S*)$/;
  return needed.filter((name) => wanted.test(name) && !isThere.test(name));
}

/** Where the shared libraries of a home lie. */
export function libraryFolders(home) {
  const places = ['lib', 'usr/lib'].map((name) => join(home, name)).filter((place) => existsSync(place));
  const paths = run('find', [...places, '-name', '*.so*'], '.').split('\n');
  return [...new Set(paths.filter((path) => path !== '').map((path) => dirname(path)))];
}

/** With the system's package lists, or with lists of our own if it has none. */
function withLists(folder, work) {
  try {
    work([]);
  } catch {
    const state = join(folder, 'apt');
    for (const name of ['state/lists/partial', 'cache/archives/partial'])
      mkdirSync(join(state, name), { recursive: true });
    const own = ['-o', `Dir::State=${join(state, 'state')}`, '-o', `Dir::Cache=${join(state, 'cache')}`];
    run('apt-get', [...own, 'update'], folder);
    work(own);
  }
}

/** Returns what it printed. */
export function run(command, args, cwd) {
  const { status, error, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8', timeout: 120_000 });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr.trim()}`);
  return stdout;
}

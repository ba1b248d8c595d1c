/**
 * etcd for the tests, and etcdctl beside it: Debian's packages, unpacked under node_modules/.cache. Nothing is installed, no service started, no root needed.
 * `node tools/test/etcd.mjs` fetches it; npm test does so before the parts that use it. UNDERSTUDY_ETCD names another binary.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const cache = join(root, 'node_modules', '.cache', 'understudy');
const home = join(cache, 'etcd');
const packageNames = ['etcd-server', 'etcd-client'];

/** Where the binary is, or will be when it is fetched. */
export const etcdBinary = process.env.UNDERSTUDY_ETCD ?? join(home, 'usr', 'bin', 'etcd');

/** Throws an Error that says what to do. */
export function fetchEtcd() {
  const wanted = [etcdBinary, join(dirname(etcdBinary), 'etcdctl')];
  const missing = wanted.find((path) => !existsSync(path));
  if (missing === undefined) return;
  if (process.env.UNDERSTUDY_ETCD !== undefined) throw new Error(`UNDERSTUDY_ETCD: there is no ${missing}`);
  const folder = join(cache, `etcd-${process.pid}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  try {
    download(folder);
    for (const name of readdirSync(folder)) if (name.endsWith('.deb')) run('dpkg', ['-x', name, 'files'], folder);
    rmSync(home, { recursive: true, force: true });
    renameSync(join(folder, 'files'), home);
  } catch (error) {
    throw new Error(
      `etcd for the tests cannot be fetched: ${error.message}\n` +
        'Install etcd 3.4 or later yourself, and set UNDERSTUDY_ETCD to its binary, with etcdctl beside it.',
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** With the system's package lists, or with lists of our own if it has none. */
function download(folder) {
  try {
    run('apt-get', ['download', ...packageNames], folder);
  } catch {
    const state = join(folder, 'apt');
    for (const name of ['state/lists/partial', 'cache/archives/partial'])
      mkdirSync(join(state, name), { recursive: true });
    const own = ['-o', `Dir::State=${join(state, 'state')}`, '-o', `Dir::Cache=${join(state, 'cache')}`];
    run('apt-get', [...own, 'update'], folder);
    run('apt-get', [...own, 'download', ...packageNames], folder);
  }
}

function run(command, args, cwd) {
  const { status, error, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8', timeout: 120_000 });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr.trim()}`);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    fetchEtcd();
    console.log(etcdBinary);
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}

/**
 * etcd for the tests, and etcdctl beside it: Debian's packages, unpacked under node_modules/.cache. Nothing is installed, no service started, no root needed.
 * `node tools/test/etcd.mjs` fetches it; npm test does so before the parts that use it. UNDERSTUDY_ETCD names another binary.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fetchPackages, homeOf } from './debian.mjs';

const packageNames = ['etcd-server', 'etcd-client'];

/** Where the binary is, or will be when it is fetched. */
export const etcdBinary = process.env.UNDERSTUDY_ETCD ?? join(homeOf('etcd'), 'usr', 'bin', 'etcd');

/** Throws an Error that says what to do. */
export function fetchEtcd() {
  const wanted = [etcdBinary, join(dirname(etcdBinary), 'etcdctl')];
  const missing = wanted.find((path) => !existsSync(path));
  if (missing === undefined) return;
  if (process.env.UNDERSTUDY_ETCD !== undefined) throw new Error(`UNDERSTUDY_ETCD: there is no ${missing}`);
  try {
    fetchPackages('etcd', packageNames);
  } catch (error) {
    throw new Error(
      `etcd for the tests cannot be fetched: ${error.message}\n` +
        'Install etcd 3.4 or later yourself, and set UNDERSTUDY_ETCD to its binary, with etcdctl beside it.',
    );
  }
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

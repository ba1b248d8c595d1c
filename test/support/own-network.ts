/**
 * A network of its own for the test file that imports this first: the file runs again, in namespaces for network, mounts and processes
 * that end with it, whatever happens. There it is the router between hosts (hosts.ts), and can take their cables out.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { endWithTest } from './children.js';
import { ipCommand } from './hosts.js';

/** Set for those who are inside. */
const mark = 'UNDERSTUDY_OWN_NETWORK';
const namespaces = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
/** As root, or as somebody who may be root in a namespace of users. */
const ways: readonly (readonly string[])[] = [namespaces, ['--user', '--map-root-user', ...namespaces]];

if (process.env[mark] === undefined) await runInside();
else prepare();

async function runInside(): Promise<never> {
  const refusals: string[] = [];
  for (const way of ways) {
    const { error, stderr, status } = spawnSync('unshare', [...way, ipCommand, 'link', 'show'], { encoding: 'utf8' });
    if (status === 0) process.exit(await run(way));
    refusals.push(error?.message ?? stderr.trim());
  }
  console.error(
    `${process.argv[1]}: needs network namespaces: run it as root, or where users may make them, ` +
      `with ip and unshare (Debian: apt-get install iproute2 util-linux): ${refusals.join('; ')}`,
  );
  process.exit(1);
}

/** Runs this file again; its reports go where ours would. Resolves to its exit code. */
function run(way: readonly string[]): Promise<number> {
  const self = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  // Killed with us, even if we are killed without a word.
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', 'unshare', ...way, ...self], {
    stdio: 'inherit',
    env: { ...process.env, [mark]: 'inside' },
  });
  endWithTest(child);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

function prepare(): void {
  // Names of namespaces are files there.
  execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', '/run']);
  execFileSync(ipCommand, ['link', 'set', 'lo', 'up']);
  writeFileSync('/proc/sys/net/ipv4/ip_forward', '1');
}

/**
 * The integration tests of RabbitMQ's Go client, built: Debian's packages of the client and of Go, the installed ones or unpacked under
 * node_modules/.cache. `node tools/test/go-client.mjs` builds them and prints where they are; `npm run test:long` does so before
 * go-suite.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fetchPackages, homeOf, run } from './debian.mjs';

const client = 'github.com/rabbitmq/amqp091-go';
const packages = ['golang-github-rabbitmq-amqp091-go-dev', 'golang-uber-goleak-dev'];
const home = homeOf('amqp091-go');
/** A program: Go's test runner with the tests in it. */
export const goClientTests = join(homeOf('amqp091-go-tests'), 'suite.test');

/** Throws an Error that says what to do. */
export function buildGoClientTests() {
  if (existsSync(goClientTests)) return;
  try {
    build();
  } catch (error) {
    throw new Error(
      `the tests of the Go client cannot be built: ${error.message}\nInstall them: apt-get install golang-go ${packages.join(' ')}`,
    );
  }
}

function build() {
  const installed = existsSync(join('/usr/share/gocode/src', client)) && spawnSync('go', ['version']).status === 0;
  if (!installed) fetchPackages('amqp091-go', (lists) => [...packages, ...compilerPackages(lists)]);
  const shared = join(installed ? '/' : home, 'usr/share/gocode');
  const folder = homeOf('amqp091-go-tests');
  const sources = join(folder, 'src', client);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(sources, { recursive: true });
  cpSync(join(shared, 'src', client), sources, { recursive: true, dereference: true });
  // Without modules, as Debian builds it; the tests of TLS have a server of their own.
  for (const name of ['go.mod', 'go.sum', 'tls_test.go']) rmSync(join(sources, name), { force: true });
  const go = installed ? 'go' : join(compilerHome(), 'bin', 'go');
  const environment = {
    GOPATH: `${folder}:${shared}`,
    GO111MODULE: 'off',
    GOCACHE: join(folder, 'cache'),
    CGO_ENABLED: '0',
  };
  if (!installed) environment.GOROOT = compilerHome();
  const args = ['test', '-tags', 'integration', '-c', '-o', goClientTests, '.'];
  const made = spawnSync(go, args, { cwd: sources, env: { ...process.env, ...environment }, encoding: 'utf8' });
  if (made.error) throw made.error;
  if (made.status !== 0) throw new Error(made.stderr);
  // A compiler and its cache are large.
  for (const spent of [home, join(folder, 'cache')]) rmSync(spent, { recursive: true, force: true });
}

/** Debian's golang-go names the version. */
function compilerPackages(lists) {
  const text = run('apt-cache', [...lists, 'depends', 'golang-go'], '.');
  const [name] = /golang-\d+\.\d+-go/.exec(text) ?? [];
  if (name === undefined) throw new Error('golang-go depends on no version of Go');
  return [name, name.replace(/go$/, 'src')];
}

function compilerHome() {
  const libraries = join(home, 'usr/lib');
  return join(
    libraries,
    readdirSync(libraries).find((name) => name.startsWith('go-')),
  );
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    buildGoClientTests();
    console.log(goClientTests);
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}

/**
 * Loaded into every process of tests (`--import`): ends one that does not end by itself, and says which tests were under way and what is
 * open. Otherwise it would hold up the whole run without a word, and what it had started would outlive it.
 */
import { afterEach, beforeEach } from 'node:test';

/** A file's tests, together: several times what the longest takes on a busy machine, and before the runner's own patience ends. */
const fileMsMax = Number(process.env.UNDERSTUDY_TEST_FILE_SECONDS) * 1000;
/** Between tests, before the first and after the last: more than it takes to start a cluster. */
const idleMsMax = 90_000;
const lookMs = 1000;

// The runner itself only waits for the others.
if (process.env.NODE_TEST_CONTEXT?.startsWith('child') === true) watch();

function watch() {
  const underWay = new Map();
  let idleFrom = performance.now();
  beforeEach(({ name }) => underWay.set(name, performance.now()));
  afterEach(({ name }) => {
    underWay.delete(name);
    idleFrom = performance.now();
  });
  setInterval(() => {
    const now = performance.now();
    const seconds = (from) => `${Math.round((now - from) / 1000)} s`;
    if (underWay.size === 0 && now - idleFrom > idleMsMax) end(`it runs for ${seconds(idleFrom)} without a test`);
    if (now < fileMsMax) return;
    const names = [...underWay].map(([name, from]) => `"${name}" (for ${seconds(from)})`);
    end(`not done after ${fileMsMax / 1000} s, under way: ${names.join(', ') || 'nothing'}`);
  }, lookMs).unref();
}

/** Exits: whatever is to be ended with this process is ended by its listeners to that. */
function end(why) {
  console.error(`${process.argv[1]}: ${why}. Open: ${open().join(', ') || 'nothing'}`);
  process.exit(1);
}

/** What keeps the process alive, such as `Timeout x3` or `Socket 127.0.0.1:5672`. */
function open() {
  const counts = new Map();
  for (const type of process.getActiveResourcesInfo()) counts.set(type, (counts.get(type) ?? 0) + 1);
  const kinds = [...counts].map(([type, count]) => (count === 1 ? type : `${type} x${count}`));
  return [...kinds, ...process._getActiveHandles().map(describe)];
}

function describe(handle) {
  const { remoteAddress, remotePort, localPort, spawnfile, pid } = handle;
  const address = typeof handle.address === 'function' ? (handle.address()?.port ?? '') : '';
  const peer = remotePort === undefined ? address : `${localPort} to ${remoteAddress}:${remotePort}`;
  return [handle.constructor.name, spawnfile, pid, peer].filter((part) => part !== undefined && part !== '').join(' ');
}

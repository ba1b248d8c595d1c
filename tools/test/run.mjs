#!/usr/bin/env node
/**
 * Runs the tests, part by part, and says what came of each: `npm test`, or some parts: `npm test -- unit integration`.
 * Plain JavaScript, since it builds the rest.
 *
 *   build         tsc, from scratch, into build/ (the package's own dist/ is `npm run build`)
 *   format, lint  biome, oxlint with types
 *   tidy          rules of the house that no linter knows
 *   unit          test/unit: all in two processes
 *   sim           test/sim: the simulator, a process a file
 *   integration   test/integration, test/scenarios: real processes and sockets, a process a file
 *   long          test/long: hours; only if named; `long soak` is that file of it alone
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fetchClients } from './clients.mjs';
import { fetchEtcd } from './etcd.mjs';
import { buildGoClientTests } from './go-client.mjs';
import { fetchIp } from './ip.mjs';
import { fetchPython } from './python.mjs';
import { fetchProton } from './proton.mjs';

const root = new URL('../..', import.meta.url).pathname;
const reports = 'build/reports';
const bin = (name) => join('node_modules', '.bin', name);

const parts = {
  build: () => run(bin('tsc'), ['-p', 'tsconfig.json']),
  format: () => run(bin('biome'), ['format', '.']),
  lint: () => run(bin('oxlint'), ['--type-aware', '--quiet']),
  tidy: () => runTests('tidy', ['tools/test/one-process.mjs'], ['build/test/tidy']),
  unit: () => runTests('unit', perFile(2, 1200), ['tools/test/unit/first.mjs', 'tools/test/unit/second.mjs']),
  sim: () => runTests('sim', processEach(availableParallelism(), 1500), testFiles('build/test/sim')),
  integration: () =>
    withServices(() =>
      runTests('integration', processEach(availableParallelism(), 225), [
        ...testFiles('build/test/integration'),
        ...testFiles('build/test/scenarios'),
      ]),
    ),
  long: () =>
    withServices(() => {
      if (longNames.length === 0 || longNames.includes('go-suite')) attempt(buildGoClientTests);
      if (longNames.length === 0 || longNames.includes('clients')) attempt(fetchClients);
      if (longNames.length === 0 || longNames.includes('proton')) attempt(fetchProton);
      return runTests(
        'long',
        perFile(1, 6 * 3600),
        longNames.length > 0
          ? longNames.map((name) => join('build/test/long', `${name}.test.js`))
          : testFiles('build/test/long'),
      );
    }),
};
/** Files of test/long that are wanted; none: all. */
const longNames = [];
const usual = Object.keys(parts).filter((part) => part !== 'long');

/** A command that shows no progress for so long is ended: something that was left open must not hold up all. */
const stalledMsMax = 30 * 60_000;
const lookMs = 5000;
/** What runs now, as the number of its process group. */
let group = 0;

/**
 * Output goes to ours; resolves to whether it exited with 0. How long it takes is the machine's affair.
 * @param progress changes as long as something happens
 */
function run(command, args, progress = () => 0) {
  return new Promise((resolve) => {
    // In a group of its own, so that what it has started ends with it.
    const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'], detached: true });
    group = child.pid ?? 0;
    let last = progress();
    let lastAt = performance.now();
    const timer = setInterval(() => {
      const now = progress();
      if (now !== last) lastAt = performance.now();
      last = now;
      if (performance.now() - lastAt < stalledMsMax) return;
      console.error(`\n${command} shows no progress for ${stalledMsMax / 60_000} minutes: ended`);
      endGroup();
    }, lookMs);
    child.once('error', (error) => {
      clearInterval(timer);
      console.error(`${command}: ${error.message}`);
      resolve(false);
    });
    child.once('exit', (code) => {
      clearInterval(timer);
      endGroup();
      resolve(code === 0);
    });
  });
}

function endGroup() {
  try {
    if (group > 0) process.kill(-group, 'SIGKILL');
  } catch {
    // Nobody of it is left.
  }
}

process.once('exit', endGroup);
for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143 }))
  process.once(signal, () => process.exit(code));

/** Runs the tests that need an etcd; without one they fail, all of them, with the reason. */
async function withServices(runThem) {
  try {
    fetchEtcd();
  } catch (error) {
    console.error(error.message);
    return false;
  }
  attempt(fetchIp);
  attempt(fetchPython);
  return await runThem();
}

/** Fetches what only few tests need: without it they say so, and fail. */
function attempt(fetch) {
  try {
    fetch();
  } catch (error) {
    console.error(error.message);
  }
}

function perFile(concurrency, secondsMax) {
  return ['--test', `--test-concurrency=${concurrency}`, `--test-timeout=${secondsMax * 1000}`];
}

/** A file that hangs, or leaves something open, ends itself and says what was under way; if it cannot, the runner ends it. */
function processEach(concurrency, secondsMax) {
  process.env.UNDERSTUDY_TEST_FILE_SECONDS = String(secondsMax);
  return ['--import', './tools/test/watchdog.mjs', ...perFile(concurrency, secondsMax + 15)];
}

function testFiles(folder) {
  try {
    const names = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.test.js'));
    return names.map((name) => join(folder, name)).sort();
  } catch {
    return [];
  }
}

/** Runs node:test with a report for people and one that is counted from. */
async function runTests(part, options, targets) {
  if (targets.length === 0) return true;
  mkdirSync(reports, { recursive: true });
  const report = join(reports, `${part}.tap`);
  const [last] = options.slice(-1);
  const reporters = [
    // Of the long ones people want to see the figures.
    `--test-reporter=${part === 'long' ? 'spec' : 'dot'}`,
    '--test-reporter-destination=stdout',
    '--test-reporter=tap',
    `--test-reporter-destination=${report}`,
  ];
  const args = last.endsWith('.mjs') ? [...reporters, ...options, ...targets] : [...options, ...reporters, ...targets];
  rmSync(report, { force: true });
  const ok = await run(process.execPath, args, () => (part === 'long' ? performance.now() : sizeOf(report)));
  process.stdout.write('\n');
  counts[part] = count(report);
  if (!ok) printFailures(report);
  return ok && counts[part].failed === 0;
}

const counts = {};

/** The closing lines of a TAP report. A run that died has none: that is one failure more than those it tells of. */
function count(report) {
  const text = read(report);
  const number = (name) => Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
  const passed = number('pass');
  if (Number.isNaN(passed)) return countUnfinished(text);
  return { passed, failed: number('fail') + number('cancelled'), skipped: number('skipped') + number('todo') };
}

/** Tests that ended, suites not among them. */
function countUnfinished(text) {
  const counts = { passed: 0, failed: 1, skipped: 0 };
  const blocks = text.split(/^(?= *(?:not )?ok \d+ )/m).slice(1);
  for (const block of blocks) {
    if (/^ *type: 'suite'$/m.test(block)) continue;
    if (/^ *not ok /.test(block)) counts.failed++;
    else counts.passed++;
  }
  return counts;
}

function sizeOf(path) {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** The tests that failed, with their reasons; and what watchdog.mjs said. */
function printFailures(report) {
  const lines = read(report).split('\n');
  for (const line of lines) if (/^# \S+\.test\.js: /.test(line)) console.log(line);
  for (let at = 0; at < lines.length; at++) {
    const indent = /^( *)not ok /.exec(lines[at])?.[1];
    if (indent === undefined) continue;
    let end = at + 1;
    while (end < lines.length && !/^ *\.\.\.$/.test(lines[end])) end++;
    const block = lines.slice(at, Math.min(end, at + 60));
    if (!block.some((line) => line.includes("failureType: 'subtestsFailed'"))) console.log(block.join('\n'));
    at = end;
  }
}

function summary(results) {
  let passed = 0;
  let failed = 0;
  for (const { part, ok, seconds } of results) {
    const tests = counts[part];
    passed += tests?.passed ?? 0;
    // A part without tests that fails, such as the build, is one failure.
    failed += tests?.failed ?? (ok ? 0 : 1);
    const detail =
      tests === undefined ? '' : `${tests.passed} passed, ${tests.failed} failed, ${tests.skipped} skipped`;
    console.log(`${ok ? 'ok    ' : 'FAILED'}  ${part.padEnd(12)} ${seconds.toFixed(1).padStart(6)} s  ${detail}`);
  }
  return `${passed} passed, ${failed} failed`;
}

process.chdir(root);
const wanted = process.argv.slice(2).filter((word) => {
  const isName = process.argv.includes('long') && existsSync(`test/long/${word}.test.ts`);
  if (isName) longNames.push(word);
  return !isName;
});
const unknown = wanted.find((part) => !(part in parts));
if (unknown !== undefined) {
  console.error(`there is no part "${unknown}": ${Object.keys(parts).join(', ')}`);
  process.exit(2);
}
const chosen = wanted.length > 0 ? [...new Set(['build', ...wanted])] : usual;
rmSync('build', { recursive: true, force: true });
const results = [];
for (const part of chosen) {
  console.log(`\n== ${part}`);
  const startedAt = performance.now();
  const ok = await parts[part]();
  results.push({ part, ok, seconds: (performance.now() - startedAt) / 1000 });
  // Tests of an old or half a build would mislead.
  if (part === 'build' && !ok) break;
}
console.log('');
const line = summary(results);
mkdirSync(reports, { recursive: true });
writeFileSync(join(reports, 'summary.txt'), `${line}\n`);
console.log(line);
process.exitCode = results.every(({ ok }) => ok) ? 0 : 1;

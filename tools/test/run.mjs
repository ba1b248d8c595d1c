#!/usr/bin/env node
/**
 * Runs the tests, part by part, and says what came of each: `npm test`, or some parts: `npm test -- unit integration`.
 * Plain JavaScript, since it builds the rest.
 *
 *   build         tsc, from scratch, into build/ (the package's own dist/ is `npm run build`)
 *   format, lint  biome, oxlint with types
 *   tidy          rules of the house that no linter knows
 *   unit          test/unit: all in two processes
 *   sim           test/sim: the simulator, a process a file; at low priority, while the next two run, if they do
 *   integration   test/integration, test/scenarios: real processes and sockets, a process a file, more files at a time than the
 *                 machine has processors, since they wait more than they work
 *   timed         those of them that judge how long something takes: no more files at a time than processors
 *   long          test/long: hours; only if named; `long soak` is that file of it alone
 */
import { spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, constants, setPriority } from 'node:os';
import { basename, join } from 'node:path';
import { fetchClients } from './clients.mjs';
import { fetchEtcd } from './etcd.mjs';
import { buildGoClientTests } from './go-client.mjs';
import { fetchIp } from './ip.mjs';
import { fetchPython } from './python.mjs';
import { fetchProton } from './proton.mjs';

const root = new URL('../..', import.meta.url).pathname;
const reports = 'build/reports';
const processors = availableParallelism();
const bin = (name) => join('node_modules', '.bin', name);

const parts = {
  build: () => run(bin('tsc'), ['-p', 'tsconfig.json']),
  format: () => run(bin('biome'), ['format', '.']),
  lint: () => run(bin('oxlint'), ['--type-aware', '--quiet']),
  tidy: () => runTests('tidy', ['tools/test/one-process.mjs'], ['build/test/tidy']),
  unit: () => runTests('unit', perFile(2, 1200), ['tools/test/unit/first.mjs', 'tools/test/unit/second.mjs']),
  // Those with most seeds are last by name, and begin first.
  sim: (givesWay) => runFiles('sim', processors, 1500, testFiles('build/test/sim').reverse(), givesWay, roomy),
  integration: () =>
    withServices(() => {
      const files = clusterTests().filter((file) => !isTimed(file));
      return runFiles('integration', processors + Math.ceil(processors / 2), 300, longestFirst(files));
    }),
  timed: () =>
    withServices(() => {
      if (!isThereAll([...timed, ...longest])) return false;
      return runFiles('timed', processors, 225, longestFirst(clusterTests().filter(isTimed)));
    }),
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
/** Megabytes: a simulated cluster leaves much behind soon, and whoever collects it often takes a tenth of the time. */
const roomy = ['--min-semi-space-size=16', '--max-semi-space-size=32', '--initial-old-space-size=400'];
/** Tests that fail if something takes too long; a pause that is too long for users, for example. */
const timed = [
  ...['any-node', 'crash-freeze', 'etcd-cluster', 'etcd-faults', 'hand-over', 'hostile-floods', 'hostile-frames'],
  ...[
    'hostile-ports',
    'hot-standby',
    'joining',
    'large-messages',
    'partitions',
    'queue-moves',
    'remote-logins',
    'soak',
    'stalls',
  ],
];
/** They begin first: one that begins last has a processor for itself while the others do nothing. */
const longest = [
  ...['partitions', 'soak', 'joining', 'queue-moves', 'any-node'],
  ...['crash-kill', 'http-wiring', 'members', 'replication', 'examples', 'crash-all', 'definitions', 'override'],
];
/** Files of test/long that are wanted; none: all. */
const longNames = [];
const usual = Object.keys(parts).filter((part) => part !== 'long');

/** A command that shows no progress for so long is ended: something that was left open must not hold up all. */
const stalledMsMax = 30 * 60_000;
const lookMs = 5000;
/** What runs now, as the numbers of process groups. */
const groups = new Set();

/**
 * Output goes to ours; resolves to whether it exited with 0. How long it takes is the machine's affair.
 * @param progress changes as long as something happens
 * @param environment more variables
 * @param output a file for its output instead; with it, it gives way to others
 */
function run(command, args, progress = () => 0, environment = {}, output = '') {
  return new Promise((resolve) => {
    const to = output === '' ? 'inherit' : openSync(output, 'w');
    // In a group of its own, so that what it has started ends with it.
    const child = spawn(command, args, {
      stdio: ['ignore', to, to],
      detached: true,
      env: { ...process.env, ...environment },
    });
    const group = child.pid ?? 0;
    if (group > 0) groups.add(group);
    if (output !== '') {
      closeSync(to);
      giveWay(group);
    }
    const endGroup = () => {
      kill(group);
      groups.delete(group);
    };
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

/** Lets all others have the processors first. */
function giveWay(pid) {
  try {
    // Linux shares the processors out among sessions, where it does, before it looks at the priorities of processes.
    writeFileSync(`/proc/${pid}/autogroup`, '10');
  } catch {
    // Not there, or another system.
  }
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It is slower then, or others are.
  }
}

function kill(group) {
  try {
    if (group > 0) process.kill(-group, 'SIGKILL');
  } catch {
    // Nobody of it is left.
  }
}

process.once('exit', () => {
  for (const group of groups) kill(group);
});
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

/**
 * A process for each file. One that hangs, or leaves something open, ends itself and says what was under way; if it cannot, the runner
 * ends it.
 */
function runFiles(part, concurrency, secondsMax, files, givesWay = false, flags = []) {
  const options = [...flags, '--import', './tools/test/watchdog.mjs', ...perFile(concurrency, secondsMax + 15)];
  return runTests(part, options, files, { UNDERSTUDY_TEST_FILE_SECONDS: String(secondsMax) }, givesWay);
}

const clusterTests = () => ['integration', 'scenarios'].flatMap((folder) => testFiles(`build/test/${folder}`));
const nameOf = (file) => basename(file, '.test.js');
const isTimed = (file) => timed.includes(nameOf(file));

/** A file of another name by now would run among the others, or begin last. */
function isThereAll(names) {
  const there = clusterTests().map(nameOf);
  const missing = names.filter((name) => !there.includes(name));
  if (missing.length > 0) console.error(`tools/test/run.mjs names tests that are not there: ${missing.join(', ')}`);
  return missing.length === 0;
}

function longestFirst(files) {
  const rank = (file) => (longest.includes(nameOf(file)) ? longest.indexOf(nameOf(file)) : longest.length);
  return files.sort((a, b) => rank(a) - rank(b));
}

function testFiles(folder) {
  try {
    const names = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.test.js'));
    return names.map((name) => join(folder, name)).sort();
  } catch {
    return [];
  }
}

/** Runs node:test with a report for people and one that is counted from. `givesWay`: it runs beside others. */
async function runTests(part, options, targets, environment = {}, givesWay = false) {
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
  const progress = () => (part === 'long' ? performance.now() : sizeOf(report));
  const output = givesWay ? join(reports, `${part}.txt`) : '';
  const ok = await run(process.execPath, args, progress, environment, output);
  if (givesWay) process.stdout.write(`\n== ${part} is over\n${read(output)}`);
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

async function timeOf(part, givesWay) {
  const startedAt = performance.now();
  const ok = await parts[part](givesWay);
  return { part, ok, seconds: (performance.now() - startedAt) / 1000 };
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
const besides = [];
for (const part of chosen) {
  // It only works, they mostly wait.
  const givesWay = part === 'sim' && ['integration', 'timed'].some((other) => chosen.includes(other));
  console.log(`\n== ${part}${givesWay ? ', while the next ones run' : ''}`);
  const result = timeOf(part, givesWay);
  if (givesWay) besides.push(result);
  else results.push(await result);
  // Tests of an old or half a build would mislead.
  if (part === 'build' && !results[0].ok) break;
}
results.push(...(await Promise.all(besides)));
console.log('');
const line = summary(results);
mkdirSync(reports, { recursive: true });
writeFileSync(join(reports, 'summary.txt'), `${line}\n`);
console.log(line);
process.exitCode = results.every(({ ok }) => ok) ? 0 : 1;

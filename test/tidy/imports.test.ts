/**
 * Folders are rooms: from a file's path one can tell what it may import. One direction; the composition (broker-node.ts, node.ts,
 * index.ts, embed/, cli/) knows everyone, and nobody but it knows the composition.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { codeLines, importsOf, readSources, type Source } from './sources.js';

const everything = [
  'base',
  'wire',
  'socket',
  'log',
  'model',
  'store',
  'cluster',
  'amqp091',
  'amqp091/codec',
  'amqp10',
  'websocket',
  'security',
  'process',
  'config',
];

/** What each room of src/ may import besides itself. Files of src/ itself are rooms of one. */
const allowed: Record<string, readonly string[]> = {
  base: [],
  wire: ['base'],
  socket: ['base', 'wire'],
  log: ['base'],
  model: ['base', 'log'],
  store: ['base', 'log'],
  security: ['base', 'wire', 'model'],
  'amqp091/codec': ['base', 'wire', 'log', 'model'],
  'amqp10/codec': ['base', 'wire', 'log', 'model'],
  conversion: ['base', 'wire', 'log', 'model', 'amqp091/codec', 'amqp10/codec'],
  amqp091: ['base', 'wire', 'socket', 'log', 'model', 'security', 'conversion', 'amqp091/codec'],
  amqp10: ['base', 'wire', 'socket', 'log', 'model', 'security', 'conversion', 'amqp10/codec'],
  websocket: ['base'],
  cluster: ['base', 'wire', 'log', 'model'],
  process: ['base'],
  config: ['base', 'process', 'security'],
  'version.ts': [],
  'broker-options.ts': ['base', 'log', 'model', 'store', 'cluster'],
  'broker-node.ts': ['base', 'wire', 'log', 'model', 'store', 'cluster', 'broker-options.ts'],
  management: ['base', 'model', 'config', 'security', 'broker-node.ts', 'version.ts'],
  'node.ts': [...everything, 'broker-node.ts', 'broker-options.ts', 'management', 'version.ts'],
  embed: [...everything, 'broker-options.ts', 'broker-node.ts', 'node.ts'],
  // For programs: it knows nothing of the broker.
  resume: [],
  'index.ts': ['base', 'config', 'embed', 'version.ts'],
  cli: [...everything, 'broker-node.ts', 'node.ts', 'version.ts'],
};

/** Rooms whose code runs in the simulator too: time, chance, disk and network come in through ports. */
const pure = ['base', 'wire', 'log', 'model', 'cluster', 'store'];

/** The ports' real sides, which live beside them, and what else the rule does not fit. */
const impure: Record<string, readonly string[]> = {
  'src/store/node-disk.ts': ['node:fs', 'node:fs/promises'],
  'src/store/folder-lock.ts': ['node:fs', 'node:fs/promises', 'node:net', 'node:crypto', 'setTimeout', 'process'],
  'src/cluster/link/tcp-transport.ts': ['node:net', 'node:tls'],
  // An HMAC is computation.
  'src/cluster/link/cluster-secret.ts': ['node:crypto'],
  'src/cluster/coordinator/local.ts': ['node:fs'],
  'src/cluster/coordinator/local-folder.ts': ['node:fs', 'node:fs/promises', 'node:crypto', 'process'],
};

const bannedModules = /^node:(fs|net|tls|dgram|http|http2|https|os|child_process|timers|worker_threads|crypto)(\/|$)/;
const bannedGlobals =
  /(?<![\w.#$])(Date|Math\.random|setTimeout|setInterval|setImmediate|performance|process)(?![\w$]|\s*[:?(]\s*(?:string|number))/;

const sources = readSources(['src'], ['.ts']);

function roomOf(path: string): string {
  const [, folder = '', inner = ''] = path.split('/');
  // A protocol's codec is a room of its own: who converts messages needs it, and the protocols need those.
  return folder.startsWith('amqp') && inner === 'codec' ? `${folder}/codec` : folder;
}

function forbiddenImports(source: Source): string[] {
  const room = roomOf(source.path);
  const rooms = allowed[room];
  if (rooms === undefined) return [`${source.path}: src/${room} is no room of test/tidy/imports.test.ts`];
  const found: string[] = [];
  for (const { target, line } of importsOf(source)) {
    if (target === undefined) continue;
    const other = roomOf(target);
    if (target.startsWith('src/') && other !== room && !rooms.includes(other))
      found.push(
        `${source.path}:${line} imports ${target}: ${room} may import ${rooms.join(', ') || 'nothing of ours'}`,
      );
    if (!target.startsWith('src/')) found.push(`${source.path}:${line} imports ${target}: outside of src/`);
  }
  return found;
}

function impurities(source: Source): string[] {
  const excepted = impure[source.path] ?? [];
  const found: string[] = [];
  for (const { specifier, line, typeOnly } of importsOf(source)) {
    if (typeOnly || !bannedModules.test(specifier) || excepted.includes(specifier)) continue;
    found.push(
      `${source.path}:${line} imports ${specifier}: take it through a port (base/clock, base/random, store/disk, ...)`,
    );
  }
  codeLines(source).forEach((line, index) => {
    const name = bannedGlobals.exec(line)?.[1];
    if (name === undefined || excepted.includes(name)) return;
    found.push(`${source.path}:${index + 1} uses ${name}: take it through a port (base/clock, base/random)`);
  });
  return found;
}

describe('imports', () => {
  it('go in one direction between the folders', () => {
    assert.deepEqual(sources.flatMap(forbiddenImports), []);
  });

  it('leave time, chance, disk and network to the ports in pure folders', () => {
    const inPure = sources.filter((source) => pure.includes(roomOf(source.path)));
    assert.deepEqual(inPure.flatMap(impurities), []);
  });

  it('leave time and chance to the ports in the protocols too', () => {
    const protocols = sources.filter(
      (source) => roomOf(source.path).startsWith('amqp') || roomOf(source.path) === 'conversion',
    );
    const found = protocols
      .flatMap(impurities)
      .filter((text) => !/imports node:(?:net|crypto)\b|uses process/.test(text));
    assert.deepEqual(found, []);
  });

  it('name only packages that package.json has', async () => {
    const { dependencies } = (await import('../../package.json', { with: { type: 'json' } })).default;
    const known = Object.keys(dependencies);
    const found = sources.flatMap((source) =>
      importsOf(source)
        .filter(({ specifier }) => !specifier.startsWith('.') && !specifier.startsWith('node:'))
        .filter(({ specifier }) => !known.includes(specifier))
        .map(({ specifier, line }) => `${source.path}:${line} imports ${specifier}: no dependency`),
    );
    assert.deepEqual(found, []);
  });
});

/** Every file is used: the product's from its entry points, the others from theirs. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { codeFolders, importsOf, readSources } from './sources.js';

const sources = new Map(readSources(codeFolders, ['.ts']).map((source) => [source.path, source]));

const productEntries = ['src/index.ts', 'src/cli/main.ts', 'src/resume/index.ts'];
/** Files that are run: tests, benches, and mains. */
const entryPattern = /\.(?:test|bench)\.ts$|(?:^|\/)main\.ts$|^examples\/|^sim\/run\.ts$/;

function reachable(entries: readonly string[]): Set<string> {
  const found = new Set<string>();
  const open = [...entries];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const source = sources.get(path);
    if (source === undefined || found.has(path)) continue;
    found.add(path);
    for (const { target } of importsOf(source)) if (target !== undefined) open.push(target);
  }
  return found;
}

describe('dead files', () => {
  it('every file of src/ is used by the package', () => {
    const used = reachable(productEntries);
    const dead = [...sources.keys()].filter((path) => path.startsWith('src/') && !used.has(path));
    assert.deepEqual(dead, []);
  });

  it('every other file is used by something that is run', () => {
    const used = reachable([...sources.keys()].filter((path) => entryPattern.test(path)));
    const dead = [...sources.keys()].filter((path) => !path.startsWith('src/') && !used.has(path));
    assert.deepEqual(dead, []);
  });

  it('every import of a file of ours finds it', () => {
    const lost: string[] = [];
    for (const source of sources.values()) {
      for (const { target, line } of importsOf(source)) {
        if (target?.endsWith('.ts') && !sources.has(target)) lost.push(`${source.path}:${line} ${target}`);
      }
    }
    assert.deepEqual(lost, []);
  });
});

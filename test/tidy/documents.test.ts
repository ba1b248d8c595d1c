/** What the documents say is there. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { settingNames } from '../../src/config/settings.js';
import { readSources } from './sources.js';

const documents = [
  ...readdirSync('.')
    .filter((name) => name.endsWith('.md'))
    .map((path) => ({ path, text: readFileSync(path, 'utf8') })),
  ...readSources(['docs', 'examples'], ['.md']),
];

interface Manifest {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;

describe('documents', () => {
  it('links lead to files', () => {
    const broken: string[] = [];
    for (const { path, text } of documents) {
      for (const [, link] of text.matchAll(/\]\(([^)\s#]+)[^)]*\)/g)) {
        if (/^[a-z]+:/.test(link!)) continue;
        if (!existsSync(join(dirname(path), link!))) broken.push(`${path}: ${link}`);
      }
    }
    assert.deepEqual(broken, []);
  });

  it('CI runs the line by which README runs all tests', () => {
    const script = readFileSync('.ci/run', 'utf8');
    const line = /^npm ci && npm test$/m.exec(readFileSync('README.md', 'utf8'))?.[0];
    assert.ok(line !== undefined, 'README.md has the line');
    assert.ok(script.includes(line), '.ci/run has the line');
  });

  it('the operations guide names every setting', () => {
    const guide = readFileSync('docs/operations.md', 'utf8');
    assert.deepEqual(
      settingNames.filter((name) => !guide.includes(`\`${name}\``) && !guide.includes(`\`--${name}\``)),
      [],
    );
  });

  it('versions of packages are exact, and each has its reason in ADR 1', () => {
    const reasons = readFileSync('docs/adr/0001-dependencies.md', 'utf8');
    for (const [name, version] of Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })) {
      assert.match(version, /^\d+\.\d+\.\d+$/, `${name} is pinned`);
      assert.ok(reasons.includes(`\`${name}\``), `${name} has its reason`);
    }
  });
});

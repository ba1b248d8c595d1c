/** What must not stand anywhere: work left undone, and what only the writer's own machine knows. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { codeFolders, readSources, type Source } from './sources.js';

const texts: Source[] = [
  ...readSources([...codeFolders, 'docs', '.ci'], ['.ts', '.mjs', '.js', '.md', '.json', '.sh', '.yml', '/run']),
  ...readdirSync('.')
    .filter((name) => /\.(md|json)$/.test(name) && name !== 'package-lock.json')
    .map((path) => {
      const text = readFileSync(path, 'utf8');
      return { path, text, lines: text.split('\n') };
    }),
].filter((source) => source.path !== 'test/tidy/words.test.ts');

const rules: readonly { pattern: RegExp; why: string }[] = [
  { pattern: /\b(?:TODO|FIXME|XXX|HACK)\b/, why: 'do it, or describe it in an issue' },
  { pattern: /(?:^|[\s'"`(=:])\/(?:home|root|work|Users)\/\w/, why: "a path of somebody's machine" },
  {
    pattern: /\.\.\/shared\b|(?<![\w./-])shared\/(?:design|spec|style|model|performance|yardstick)/,
    why: 'a path out of the repository',
  },
  { pattern: /\bissue #?\d/i, why: 'numbers of issues mean nothing to a reader of the code' },
  { pattern: /\b(?:describe|it|test)\.only\(/, why: 'the other tests would not run' },
  { pattern: /\bdebugger;|^\s*console\.debug\(/, why: 'left over from debugging' },
];

describe('words', () => {
  for (const { pattern, why } of rules) {
    it(`no ${pattern.source}: ${why}`, () => {
      const found = texts.flatMap((source) =>
        source.lines.flatMap((line, index) =>
          pattern.test(line) ? [`${source.path}:${index + 1} ${line.trim()}`] : [],
        ),
      );
      assert.deepEqual(found, []);
    });
  }
});

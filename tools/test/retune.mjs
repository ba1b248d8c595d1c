#!/usr/bin/env node
/**
 * After a change of the code other seeds show that a rule is left out, and test/sim/planted-*.test.ts begin their searches in the wrong
 * places: they find the same, later. This looks for every rule anew, and writes down where each is found: a few minutes, after
 * `npx tsc -p .`. To be run when `npm test -- sim` has become slow.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

/** Nearer than this it is not worth a change. */
const triesFew = 3;

for (const name of ['planted-a', 'planted-b', 'planted-c']) {
  const source = `test/sim/${name}.test.ts`;
  let text = readFileSync(source, 'utf8');
  const { stdout } = spawnSync(process.execPath, ['--test-reporter=tap', `build/test/sim/${name}.test.js`], {
    maxBuffer: 2 ** 28,
  });
  const found = stdout.toString().matchAll(/^ok \d+ - without (\w+): .*\n(?:(?!ok|not ok).*\n)*?# seed (\d+),/gm);
  for (const [, rule, seed] of found) {
    const entry = new RegExp(`\\{ rule: '${rule}', scenario: '([\\w-]*)'(?:, from: (\\d+))? \\}`);
    text = text.replace(entry, (whole, scenario, from = '1') => {
      const tries = Number(seed) - Number(from);
      if (tries >= 0 && tries < triesFew) return whole;
      console.log(`${rule}: from ${from} to ${seed}`);
      return `{ rule: '${rule}', scenario: '${scenario}', from: ${seed} }`;
    });
  }
  writeFileSync(source, text);
}

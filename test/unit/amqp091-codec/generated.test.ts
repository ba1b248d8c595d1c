import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { generate, generatedFolder } from '../../../tools/codegen/generate.js';
import { root } from './support.js';

test('the generated files are what the definition generates', () => {
  const files = generate(root);
  assert.deepEqual(readdirSync(join(root, generatedFolder)).sort(), [...files.keys()].sort());
  for (const [name, text] of files) {
    assert.equal(readFileSync(join(root, generatedFolder, name), 'utf8'), text, `${name}: run tools/codegen/main`);
  }
});

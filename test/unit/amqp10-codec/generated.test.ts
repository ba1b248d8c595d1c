import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { generate10, generatedFolder10 } from '../../../tools/codegen/amqp10/generate.js';
import { root } from './support.js';

test('the generated files of AMQP 1.0 are what the definition generates', () => {
  const files = generate10(root);
  assert.deepEqual(readdirSync(join(root, generatedFolder10)).sort(), [...files.keys()].sort());
  for (const [name, text] of files) {
    assert.equal(readFileSync(join(root, generatedFolder10, name), 'utf8'), text, `${name}: run tools/codegen/main`);
  }
});

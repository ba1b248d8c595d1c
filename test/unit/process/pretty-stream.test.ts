import assert from 'node:assert/strict';
import { it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { PrettyStream } from '../../../src/process/pretty-stream.js';

it('a log line for people has time, level, broker, message and fields', () => {
  let written = '';
  const stream = new PrettyStream({ write: (text) => (written += text) });
  const line = {
    level: 40,
    time: '2026-01-02T03:04:05.678Z',
    broker: 'n1',
    msg: 'no link',
    node: 'n2',
    reason: 'it is gone',
  };
  stream.write(JSON.stringify(line));
  assert.equal(stripVTControlCharacters(written), '03:04:05.678 WARN  n1 no link node=n2 reason="it is gone"\n');
});

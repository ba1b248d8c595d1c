import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openFilesMax, parseOpenFiles } from '../../../src/process/open-files.js';

describe('openFilesMax', () => {
  it('is the soft limit', () => {
    const text = `Limit                     Soft Limit           Hard Limit           Units
Max core file size        0                    unlimited            bytes
Max open files            1024                 4096                 files
Max locked memory         65536                65536                bytes
`;
    assert.equal(parseOpenFiles(text), 1024);
    assert.equal(parseOpenFiles(text.replace('1024 ', 'unlimited ')), Number.POSITIVE_INFINITY);
    assert.equal(parseOpenFiles(''), Number.POSITIVE_INFINITY);
  });

  it('tells of this process', () => {
    assert.ok(openFilesMax() > 100);
  });
});

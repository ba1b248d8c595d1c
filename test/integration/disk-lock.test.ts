/** A data folder belongs to one process, as long as that lives. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LoneBroker } from '../support/lone-broker.js';

const refused = /understudy: the data folder .* is in use by another process \(pid \d+\)/;

describe('a data folder', () => {
  it('is refused to a second process while the first one runs or is frozen, and free when it was killed', async () => {
    await using first = await LoneBroker.start();
    await assert.rejects(LoneBroker.start({ data: first.data }), refused);
    await assert.rejects(LoneBroker.start({ data: first.data, isNode: true }), refused);
    first.signal('SIGSTOP');
    await assert.rejects(LoneBroker.start({ data: first.data }), refused);
    first.signal('SIGCONT');
    await first.kill();
    await using second = await LoneBroker.start({ data: first.data });
    await assert.rejects(first.start(), refused);
    assert.deepEqual(second.loggedErrors, []);
  });
});

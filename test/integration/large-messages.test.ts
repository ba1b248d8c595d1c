/** Messages that are large against the memory that a broker may use for messages. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { callApi } from '../../src/cli/api-client.js';
import { LoneBroker } from '../support/lone-broker.js';
import { QueueClient } from '../support/queue-client.js';
import { within } from '../support/within.js';

const mebibyte = 1024 * 1024;

describe('messages larger than the memory for messages', () => {
  it('go to disk when nothing follows them: publishers go on, and they come back whole', async () => {
    await using broker = await LoneBroker.start({ options: ['--memory', '16MiB'] });
    const bodies = [1, 2, 3].map((filler) => Buffer.alloc(40 * mebibyte, filler));
    await using large = await QueueClient.open(broker.url);
    for (const [i, body] of bodies.entries()) await within(20_000, 'a confirm', large.send(`large-${i}`, [body]));
    await using small = await QueueClient.open(broker.url);
    await within(5000, 'a confirm', small.send('small', ['a', 'b']));
    const health = await callApi(new URL(`http://127.0.0.1:${broker.httpPort}`), 'GET', '/api/health');
    assert.deepEqual((health as { status: string }).status, 'ok');
    for (const [i, body] of bodies.entries()) {
      const [message] = await large.browse(`large-${i}`);
      assert.ok(message!.content.equals(body));
    }
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiError } from '../../../src/cli/api-client.js';
import { askAny, parseUrls } from '../../../src/cli/node-urls.js';

const urls = parseUrls('http://n1:1,http://n2:2,http://n3:3');
const silent = new ApiError('no node answers', true);
const starting = new ApiError('n1 is starting', true);
const refusal = new ApiError('n2 refuses: messages may be lost', false);

/** Asks with these outcomes of n1, n2, n3; undefined: it answers. */
async function asked(...outcomes: (Error | undefined)[]): Promise<string> {
  return askAny(urls, async (url) => {
    const outcome = outcomes[Number(url.port) - 1];
    if (outcome !== undefined) throw outcome;
    return url.host;
  });
}

describe('the nodes that a command may ask', () => {
  it('are tried in order until one answers', async () => {
    assert.equal(await asked(undefined, refusal), 'n1:1');
    assert.equal(await asked(silent, starting, undefined), 'n3:3');
  });

  it('answer with a refusal, too: nobody else is asked then', async () => {
    await assert.rejects(asked(silent, refusal, undefined), refusal);
    await assert.rejects(asked(refusal, silent, silent), refusal);
  });

  it('may all be silent: the first tells why', async () => {
    await assert.rejects(asked(silent, starting, starting), silent);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StaticAuthenticator } from '../../../src/security/authenticator.js';

const origin = { peerAddress: '127.0.0.1', mechanism: 'PLAIN' };
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('StaticAuthenticator', () => {
  it('knows guest unless told otherwise', async () => {
    const authenticator = new StaticAuthenticator();
    assert.equal(await authenticator.authenticate('guest', bytes('guest'), origin), true);
    assert.equal(await authenticator.authenticate('guest', bytes('Guest'), origin), false);
    assert.equal(await authenticator.authenticate('guest', bytes(''), origin), false);
  });

  it('knows the users it was given and no others, not even with an empty password', async () => {
    const authenticator = new StaticAuthenticator(new Map([['ann', 'secret']]));
    assert.equal(await authenticator.authenticate('ann', bytes('secret'), origin), true);
    assert.equal(await authenticator.authenticate('guest', bytes('guest'), origin), false);
    assert.equal(await authenticator.authenticate('bob', bytes(''), origin), false);
    assert.equal(await authenticator.recognize('ann', { ...origin, mechanism: 'EXTERNAL' }), true);
    assert.equal(await authenticator.recognize('bob', { ...origin, mechanism: 'EXTERNAL' }), false);
  });
});

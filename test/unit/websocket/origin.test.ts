import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isOriginAllowed } from '../../../src/websocket/origin.js';

describe('the origin of a page', () => {
  it('counts only if there is one', () => assert.equal(isOriginAllowed(undefined, 'a:1', []), true));

  it('must be on the list, in whatever case', () => {
    assert.equal(isOriginAllowed('https://Shop.example', 'mq.example', ['https://shop.example']), true);
    assert.equal(isOriginAllowed('http://shop.example', 'mq.example', ['https://shop.example']), false);
    assert.equal(isOriginAllowed('https://shop.example.evil', 'mq.example', ['https://shop.example']), false);
  });

  it('may be any with *', () => assert.equal(isOriginAllowed('null', 'mq.example', ['*']), true));

  it('may be the host and port that were asked, if they are an address or localhost', () => {
    assert.equal(isOriginAllowed('http://127.0.0.1:5672', '127.0.0.1:5672', []), true);
    assert.equal(isOriginAllowed('http://[::1]:5672', '[::1]:5672', []), true);
    assert.equal(isOriginAllowed('http://localhost:5672', 'LOCALHOST:5672', []), true);
    assert.equal(isOriginAllowed('http://localhost:80', 'localhost:5672', []), false);
    // Its owner may have the name lead here when the page is loaded.
    assert.equal(isOriginAllowed('http://evil.example:5672', 'evil.example:5672', []), false);
    assert.equal(isOriginAllowed('http://127.0.0.1.evil.example', '127.0.0.1.evil.example', []), false);
    assert.equal(isOriginAllowed('null', 'null', []), false);
  });
});

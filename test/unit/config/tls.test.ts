import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readSettings } from '../../../src/config/settings.js';

const files = { 'tls-certificate': 'n1.pem', 'tls-key': 'n1.key' };

describe('TLS for clients', () => {
  it('is listened for where that is said, or on the usual ports beside the plain ones', () => {
    const settings = readSettings({ ...files, amqp: '10.0.0.1:5672', http: 'off', amqps: 'on', https: 'on' });
    assert.deepEqual(settings.amqps, { host: '10.0.0.1', port: 5671 });
    assert.deepEqual(settings.https, { host: '127.0.0.1', port: 15_671 });
    assert.deepEqual(settings.tls, {
      files: { certificate: 'n1.pem', key: 'n1.key', ca: undefined },
      clients: 'none',
      loginFrom: 'distinguished-name',
    });
    assert.deepEqual(readSettings({ ...files, amqps: '[::]:1' }).amqps, { host: '::', port: 1 });
  });

  it('may be all that there is', () => {
    const settings = readSettings({ ...files, amqp: 'off', amqps: 'on' });
    assert.deepEqual([settings.amqp, settings.amqps], [null, { host: '127.0.0.1', port: 5671 }]);
  });

  it('asks clients for certificates of an authority', () => {
    const asked = { 'tls-ca': 'ca.pem', 'tls-clients': 'require', 'tls-login-from': 'email' };
    const { tls } = readSettings({ ...files, amqps: 'on', ...asked });
    assert.deepEqual([tls?.files.ca, tls?.clients, tls?.loginFrom], ['ca.pem', 'require', 'email']);
  });

  for (const [what, written, message] of [
    ['no port for clients', { amqp: 'off' }, /^amqp: off, and so is amqps/],
    ['a port without a certificate', { amqps: 'on' }, /^tls-certificate: its file is needed/],
    ['a port without a key', { https: 'on', 'tls-certificate': 'c' }, /^tls-key: its file is needed/],
    ['files without a port', files, /^tls-certificate: nothing is listened for over TLS/],
    ['checks without an authority', { ...files, amqps: 'on', 'tls-clients': 'request' }, /^tls-ca: /],
    [
      'a part of certificates that nobody shows',
      { ...files, amqps: 'on', 'tls-login-from': 'dns' },
      /^tls-login-from: /,
    ],
  ] as const) {
    it(`is refused with ${what}, by name`, () => {
      assert.throws(() => readSettings(written), { name: 'ConfigError', message });
    });
  }
});

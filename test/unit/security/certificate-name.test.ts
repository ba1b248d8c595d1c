import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, describe, it } from 'node:test';
import { certificateName } from '../../../src/security/certificate-name.js';
import { loginParts } from '../../../src/security/tls-options.js';
import { Authority, type Certified } from '../../support/certificates.js';

const authority = new Authority();
after(() => authority[Symbol.dispose]());

let issued = 0;

/** What each part of a certificate names. */
function namesIn(certified: Certified): Record<string, string | undefined> {
  const { certificate } = authority.issueFor(`c${issued++}`, certified);
  const read = new X509Certificate(readFileSync(certificate));
  return Object.fromEntries(loginParts.map((part) => [part, certificateName(read, part)]));
}

describe('the name in a certificate', () => {
  it('is its distinguished name as RFC 4514 writes it, its common name, or an alternative one', () => {
    assert.deepEqual(
      namesIn({
        subject: '/C=DE/O=acme, inc/OU=a\\+b "c"/emailAddress=x@y/CN=ann',
        names: 'DNS:a.example,DNS:b.example,email:ann@example.org,URI:urn:ann',
      }),
      {
        'distinguished-name': 'CN=ann,EMAILADDRESS=x@y,OU=a\\+b \\"c\\",O=acme\\, inc,C=DE',
        'common-name': 'ann',
        dns: 'a.example',
        email: 'ann@example.org',
        uri: 'urn:ann',
      },
    );
  });

  it('has attributes that stand together joined by a plus, and common names by a comma', () => {
    const names = namesIn({ subject: '/O=acme/CN=ann/CN=bob' });
    assert.equal(names['distinguished-name'], 'CN=bob,CN=ann,O=acme');
    assert.equal(names['common-name'], 'ann,bob');
    assert.equal(namesIn({ subject: '/O=acme/OU=x+CN=ann' })['distinguished-name'], 'OU=x+CN=ann,O=acme');
  });

  it('is not there if the certificate has no such part', () => {
    const names = namesIn({ subject: '/O=acme' });
    assert.deepEqual(
      loginParts.filter((part) => names[part] !== undefined),
      ['distinguished-name'],
    );
  });

  it('is not taken from an alternative name of another kind that looks like one of the wanted', () => {
    const section = '[all]\nURI=http://host/, DNS:admin\nDNS=real.example';
    const names = namesIn({ subject: '/CN=x', names: `@all\n${section}` });
    assert.deepEqual([names['uri'], names['dns']], ['http://host/, DNS:admin', 'real.example']);
  });
});

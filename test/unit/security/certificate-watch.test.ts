import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, describe, it } from 'node:test';
import { silentLogger } from '../../../src/base/logger.js';
import { type Certificates, readCertificates } from '../../../src/security/certificate-files.js';
import { CertificateWatch } from '../../../src/security/certificate-watch.js';
import { eventually } from '../../fakes/amqp-host.js';
import { ManualClock } from '../../fakes/manual-clock.js';
import { Authority, type CertificateFiles } from '../../support/certificates.js';

const authority = new Authority();
after(() => authority[Symbol.dispose]());

const first = authority.issue('first');
const second = authority.issue('second');
const expired = authority.issueFor('expired', { days: -1 });

describe('certificates that are watched', () => {
  let folder: string;
  let files: CertificateFiles;
  let clock: ManualClock;
  let used: Certificates[];
  let lines: string[];
  let watch: CertificateWatch;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'understudy-watch-'));
    files = { ca: join(folder, 'ca.pem'), certificate: join(folder, 'n.pem'), key: join(folder, 'n.key') };
    copyFileSync(first.ca, files.ca);
    put(first);
    clock = new ManualClock();
    used = [];
    lines = [];
    const note = (message: string, fields?: object): void => void lines.push(`${message} ${JSON.stringify(fields)}`);
    watch = new CertificateWatch({
      files,
      current: await readCertificates(files),
      user: { renew: (certificates) => void used.push(certificates) },
      purpose: 'test',
      clock: { ...bound(clock), wall: () => Date.now() },
      logger: { ...silentLogger, info: note, warn: note, error: note },
    });
    await watch.reload();
  });
  afterEach(() => {
    watch.close();
    rmSync(folder, { recursive: true });
  });

  function put({ certificate, key }: CertificateFiles): void {
    copyFileSync(certificate, files.certificate);
    copyFileSync(key, files.key);
  }

  it('are not touched while the files are as they were', async () => {
    await watch.reload();
    assert.deepEqual([used, lines], [[], []]);
  });

  it('are renewed soon after they were replaced', async () => {
    put(second);
    clock.advance(2000);
    await eventually(() => used.length === 1, 'the new ones are used');
    assert.deepEqual(used[0], await readCertificates(second));
    assert.match(lines.join(), /new certificates are in use.*CN=second/);
  });

  it('stay when what replaces them is broken, which is said once, and are renewed when it is mended', async () => {
    copyFileSync(second.certificate, files.certificate);
    for (let i = 0; i < 3; i++) {
      clock.advance(2000);
      await watch.reload();
    }
    // Told to look it says so each time; by itself it did once.
    writeFileSync(files.key, 'no key');
    await watch.reload();
    assert.deepEqual(used, []);
    assert.match(lines[0]!, /new certificates cannot be used, the old ones stay .*mismatch/);
    copyFileSync(second.key, files.key);
    await watch.reload();
    assert.equal(used.length, 1);
  });

  it('stay when what replaces them has expired', async () => {
    put(expired);
    await watch.reload();
    assert.deepEqual(used, []);
    assert.match(lines.join(), /cannot be used.*it has expired/);
  });

  it('stay when their files are gone', async () => {
    rmSync(files.key);
    clock.advance(2000);
    await eventually(() => lines.length === 1, 'it is said');
    assert.match(lines[0]!, /cannot be used.*key: ENOENT/);
    clock.advance(2000);
    clock.advance(2000);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual([used.length, lines.length], [0, 1]);
  });
});

/** A clock's functions as a plain object's. */
function bound(clock: ManualClock): Pick<ManualClock, 'now' | 'after' | 'every'> {
  return { now: () => clock.now(), after: (ms, run) => clock.after(ms, run), every: (ms, run) => clock.every(ms, run) };
}

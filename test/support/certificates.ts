/** An authority and its certificates, made by openssl for one test. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LinkTls } from '../../src/cluster/link/tcp-transport.js';

/** Names of PEM files. */
export interface CertificateFiles {
  ca: string;
  certificate: string;
  key: string;
}

/** What a certificate says. */
export interface Certified {
  /** As openssl takes it: `/O=acme/CN=ann`. */
  subject?: string;
  /** Alternative names, as openssl takes them: `DNS:host,email:someone@host`. */
  names?: string;
  /** From now on; less than 0: it has expired. */
  days?: number;
}

export class Authority implements Disposable {
  readonly folder: string;

  /** Throws if there is no openssl. */
  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'understudy-ca-'));
    this.openssl('req', '-x509', ...this.newKey('ca'), '-days', '2', '-subj', '/CN=ca', '-out', this.path('ca.pem'));
  }

  /** A certificate for an address of this machine. */
  issue(name: string, ip = '127.0.0.1'): CertificateFiles {
    return this.issueFor(name, { names: `IP:${ip}` });
  }

  /** Any certificate; again with the same name: another one in the same files. */
  issueFor(name: string, { subject = `/CN=${name}`, names, days = 2 }: Certified): CertificateFiles {
    const request = this.path(`${name}.csr`);
    const certificate = this.path(`${name}.pem`);
    const extensions = this.path(`${name}.ext`);
    writeFileSync(
      extensions,
      names === undefined
        ? ''
        : `subjectAltName=${names}
`,
    );
    this.openssl('req', ...this.newKey(name), '-subj', subject, '-out', request);
    const by = ['-CA', this.path('ca.pem'), '-CAkey', this.path('ca.key'), '-CAcreateserial', '-days', String(days)];
    this.openssl('x509', '-req', '-in', request, ...by, '-extfile', extensions, '-out', certificate);
    return { ca: this.path('ca.pem'), certificate, key: this.path(`${name}.key`) };
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private newKey(name: string): string[] {
    return ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', this.path(`${name}.key`)];
  }

  private path(name: string): string {
    return join(this.folder, name);
  }

  private openssl(...args: string[]): void {
    try {
      execFileSync('openssl', args, { stdio: 'pipe' });
    } catch (error) {
      throw new Error(`openssl ${args.join(' ')}: ${String(error)}; Debian: apt-get install openssl`);
    }
  }
}

/** The texts in the files. */
export function readCertificates({ ca, certificate, key }: CertificateFiles): LinkTls {
  const read = (path: string): string => readFileSync(path, 'utf8');
  return { ca: read(ca), certificate: read(certificate), key: read(key) };
}

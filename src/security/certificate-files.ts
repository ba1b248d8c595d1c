/** The one place where certificates and keys are read: by the servers for clients, and by the links between brokers. */
import { readFile, stat } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';

/** Names of PEM files. */
export interface CertificateFiles {
  certificate: string;
  key: string;
  /** The authority that the other end's certificates must be from. */
  ca?: string | undefined;
}

/** PEM texts. */
export interface Certificates {
  certificate: string;
  key: string;
  ca?: string | undefined;
}

const parts = ['ca', 'certificate', 'key'] as const;

export function readCertificates(files: CertificateFiles & { ca: string }): Promise<Certificates & { ca: string }>;
export function readCertificates(files: CertificateFiles): Promise<Certificates>;
/** Rejects with an Error that names the part, if a file cannot be read, or what is in them is no certificate, or the key of another one. */
export async function readCertificates(files: CertificateFiles): Promise<Certificates> {
  const read = async (part: (typeof parts)[number]): Promise<string | undefined> => {
    const path = files[part];
    if (path === undefined) return undefined;
    return await readFile(path, 'utf8').catch((error: Error) => {
      throw new Error(`${part}: ${error.message}`);
    });
  };
  const [ca, certificate, key] = await Promise.all(parts.map(read));
  const certificates = { certificate: certificate!, key: key!, ...(ca === undefined ? {} : { ca }) };
  // Now, rather than when the first client comes.
  try {
    createSecureContext({ cert: certificates.certificate, key: certificates.key, ca });
  } catch (error) {
    const { reason, message } = error as Error & { reason?: string };
    throw new Error(`certificate: ${reason ?? message}`);
  }
  return certificates;
}

/** What changes when one of the files does; a file that is not there has a state too. */
export async function stateOf(files: CertificateFiles): Promise<string> {
  const states = parts.map(async (part) => {
    const path = files[part];
    if (path === undefined) return '';
    const { ino, mtimeMs, size } = await stat(path).catch(() => ({ ino: 0, mtimeMs: 0, size: -1 }));
    return `${ino} ${mtimeMs} ${size}`;
  });
  return (await Promise.all(states)).join(', ');
}

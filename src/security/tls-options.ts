import type { CertificateFiles } from './certificate-files.js';

/** Whether clients must show a certificate: `request`: one that is shown must be good. */
export const clientChecks = ['none', 'request', 'require'] as const;
export type ClientCheck = (typeof clientChecks)[number];

/** Which part of a client's certificate names the user. */
export const loginParts = ['distinguished-name', 'common-name', 'dns', 'email', 'uri'] as const;
export type LoginPart = (typeof loginParts)[number];

/** What a node shows to its clients over TLS, and asks of them. */
export interface TlsOptions {
  files: CertificateFiles;
  clients: ClientCheck;
  loginFrom: LoginPart;
}

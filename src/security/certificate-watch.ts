import { X509Certificate } from 'node:crypto';
import type { Clock, Timer } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import { type CertificateFiles, type Certificates, readCertificates, stateOf } from './certificate-files.js';

/** Whoever shows certificates to others. */
export interface CertificateUser {
  /** From now on these are shown; connections that run go on. Throws if they cannot be used. */
  renew(certificates: Certificates): void;
}

export interface CertificateWatchOptions {
  files: CertificateFiles;
  /** What is in use now. */
  current: Certificates;
  user: CertificateUser;
  /** What they are for, in the log. */
  purpose: string;
  clock: Clock;
  logger: Logger;
}

/** The files are looked at this often. */
const periodMs = 2000;

/**
 * Puts new certificates into use while the process runs: when the files' time of change, size or inode changes, or when it is told to look.
 * What cannot be used is logged, once, and the old ones stay.
 */
export class CertificateWatch {
  private readonly options: CertificateWatchOptions;
  private readonly timer: Timer;
  private current: Certificates;
  /** Of the files when they were read last; '' before that. */
  private state = '';
  private looking: Promise<void> | undefined;
  private closed = false;

  constructor(options: CertificateWatchOptions) {
    this.options = options;
    this.current = options.current;
    this.timer = options.clock.every(periodMs, () => void this.look());
    this.warnOfEnd(options.current);
    void this.look();
  }

  /** Reads the files, changed or not. */
  async reload(): Promise<void> {
    await this.looking;
    this.state = '';
    await this.look();
  }

  close(): void {
    this.closed = true;
    this.timer.cancel();
  }

  private look(): Promise<void> {
    this.looking ??= this.lookOnce().finally(() => {
      this.looking = undefined;
    });
    return this.looking;
  }

  private async lookOnce(): Promise<void> {
    const { files, logger, purpose } = this.options;
    // Before they are read: what changes after that is seen the next time.
    const state = await stateOf(files);
    if (state === this.state || this.closed) return;
    this.state = state;
    try {
      this.use(await readCertificates(files));
    } catch (error) {
      const reason = (error as Error).message;
      logger.warn('new certificates cannot be used, the old ones stay', { purpose, files, reason });
    }
  }

  private use(found: Certificates): void {
    const { user, logger, purpose } = this.options;
    const { certificate, key, ca } = this.current;
    if (this.closed || (found.certificate === certificate && found.key === key && found.ca === ca)) return;
    if (hasEnded(found.certificate, this.options.clock) && !hasEnded(certificate, this.options.clock))
      throw new Error(`certificate: it has expired: ${new X509Certificate(found.certificate).validTo}`);
    user.renew(found);
    this.current = found;
    const { subject, validTo } = new X509Certificate(found.certificate);
    logger.info('new certificates are in use', { purpose, subject: subject.replaceAll('\n', ','), until: validTo });
  }

  private warnOfEnd({ certificate }: Certificates): void {
    const { logger, clock, purpose } = this.options;
    if (!hasEnded(certificate, clock)) return;
    const until = new X509Certificate(certificate).validTo;
    logger.warn('the certificate has expired: whoever checks it does not connect', { purpose, until });
  }
}

function hasEnded(certificate: string, clock: Clock): boolean {
  return Date.parse(new X509Certificate(certificate).validTo) < clock.wall();
}

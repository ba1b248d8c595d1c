/** From settings to what links need: the secret itself, the PEM texts themselves. */
import { readFile, stat } from 'node:fs/promises';
import type { Logger } from '../base/logger.js';
import { localSecret } from '../cluster/coordinator/local-folder.js';
import { ClusterSecret } from '../cluster/link/cluster-secret.js';
import type { LinkCertificates } from '../node.js';
import { formatEndpoint, type Endpoint } from '../config/endpoint.js';
import { checkSecret, type LinkSettings, type SecretPlace, type TlsFiles } from '../config/links.js';
import { ConfigError } from '../config/settings.js';
import { processRandom } from '../process/random.js';
import { readCertificates } from '../security/certificate-files.js';

export interface LinkSecurity {
  secret: ClusterSecret;
  tls: LinkCertificates | null;
}

/** Rejects with ConfigError if a file cannot be used. Says what is less safe than it might be. */
export async function linkSecurity(settings: LinkSettings, listen: Endpoint, logger: Logger): Promise<LinkSecurity> {
  const secret = new ClusterSecret(await secretText(settings.secret, logger));
  if (settings.secret.kind === 'none') {
    const fields = { cluster: formatEndpoint(listen) };
    if (settings.secret.accepted)
      logger.warn(
        'there is no cluster secret: whoever reaches this port is taken for a broker, and gets all messages',
        fields,
      );
    else logger.info('there is no cluster secret: any process of this machine is taken for a broker', fields);
  }
  return { secret, tls: settings.tls && (await readTls(settings.tls)) };
}

async function secretText(place: SecretPlace, logger: Logger): Promise<string> {
  switch (place.kind) {
    case 'given':
      return place.secret;
    case 'file':
      return await readSecret(place.path, logger);
    case 'folder':
      return await localSecret(place.path, processRandom);
    case 'none':
      return '';
  }
}

async function readSecret(path: string, logger: Logger): Promise<string> {
  try {
    const secret = checkSecret(await readFile(path, 'utf8'));
    if (((await stat(path)).mode & 0o007) !== 0)
      logger.warn('every user of this machine may read the cluster secret: chmod 600', { file: path });
    return secret;
  } catch (error) {
    throw new ConfigError(`cluster-secret-file: ${path}: ${(error as Error).message}`);
  }
}

async function readTls(files: TlsFiles): Promise<LinkCertificates> {
  try {
    return { files, current: await readCertificates(files) };
  } catch (error) {
    throw new ConfigError(`cluster-tls: ${(error as Error).message}`);
  }
}

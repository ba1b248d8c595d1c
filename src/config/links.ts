/** How brokers know each other, and whether others can listen to them: the `cluster-...` settings. */
import type { CoordinatorSettings } from './coordinator.js';
import { type Endpoint, formatEndpoint } from './endpoint.js';

export interface LinkSettings {
  secret: SecretPlace;
  /** Names of PEM files; null: links are not encrypted. */
  tls: TlsFiles | null;
}

/**
 * Where the cluster's secret comes from. `folder`: made once, in that of the local coordinator; `none`: everybody who reaches the
 * port is taken for a broker, which `accepted` says was asked for.
 */
export type SecretPlace =
  | { kind: 'given'; secret: string }
  | { kind: 'file'; path: string }
  | { kind: 'folder'; path: string }
  | { kind: 'none'; accepted: boolean };

export interface TlsFiles {
  ca: string;
  certificate: string;
  key: string;
}

/** As they were written. */
export interface RawLinkSettings {
  secret: string | undefined;
  'secret-file': string | undefined;
  insecure: true | undefined;
  tls: TlsFiles | undefined;
}

/** Characters of a secret: fewer can be guessed from what a broker says to somebody whom it calls. */
export const secretLengthMin = 16;
export const secretLengthMax = 1024;

/** Returns it without the white space around it. Throws RangeError, which does not show it. */
export function checkSecret(written: string): string {
  const secret = written.trim();
  if (secret.length < secretLengthMin)
    throw new RangeError(`a secret has at least ${secretLengthMin} characters: openssl rand -hex 32 makes a good one`);
  if (secret.length > secretLengthMax) throw new RangeError(`a secret has at most ${secretLengthMax} characters`);
  return secret;
}

/** Puts them together. Null: the broker is alone. Throws RangeError, which names the setting, if they do not fit. */
export function linkSettings(
  coordinator: CoordinatorSettings | null,
  cluster: Endpoint,
  raw: RawLinkSettings,
): LinkSettings | null {
  if (coordinator === null) {
    const [name] = Object.entries(raw).find(([, value]) => value !== undefined) ?? [];
    if (name !== undefined) throw new RangeError(`cluster-${name}: there is no coordinator, so no other broker`);
    return null;
  }
  return { secret: secretPlace(coordinator, cluster, raw), tls: raw.tls ?? null };
}

function secretPlace(coordinator: CoordinatorSettings, cluster: Endpoint, raw: RawLinkSettings): SecretPlace {
  const { secret, 'secret-file': path, insecure = false } = raw;
  const given = secret !== undefined || path !== undefined;
  if (secret !== undefined && path !== undefined)
    throw new RangeError('cluster-secret-file: there is a cluster-secret as well');
  if (insecure && given) throw new RangeError('cluster-insecure: there is a cluster secret');
  if (insecure && coordinator.kind === 'local')
    throw new RangeError('cluster-insecure: brokers with a local coordinator have a secret by themselves');
  if (secret !== undefined) return { kind: 'given', secret };
  if (path !== undefined) return { kind: 'file', path };
  if (coordinator.kind === 'local') return { kind: 'folder', path: coordinator.folder };
  if (!insecure && !isLoopback(cluster.host))
    throw new RangeError(
      `cluster-secret-file: there is no cluster secret, and whoever reaches ${formatEndpoint(cluster)} would be taken for a ` +
        'broker: give all nodes the same file, made by openssl rand -hex 32; or say cluster-insecure: true in the configuration file',
    );
  return { kind: 'none', accepted: insecure };
}

/** Only processes of this machine reach it. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** Where the cluster's map is: `local:DIR`, or `etcd:HOST:PORT[,HOST:PORT...]` with what `etcd-...` settings say. */
import { type Endpoint, parseEndpoint } from './endpoint.js';

export type CoordinatorPlace = { kind: 'local'; folder: string } | { kind: 'etcd'; endpoints: Endpoint[] };

export type CoordinatorSettings = Extract<CoordinatorPlace, { kind: 'local' }> | EtcdSettings;

export interface EtcdSettings {
  kind: 'etcd';
  endpoints: Endpoint[];
  /** Begins with a slash and does not end with one. */
  prefix: string;
  user: { name: string; password: string } | null;
  /** Names of PEM files; null: no TLS. */
  tls: { ca: string | undefined; certificate: string | undefined; key: string | undefined } | null;
}

/** The settings that only an etcd has a use for, as they were written. */
export interface RawEtcdSettings {
  prefix?: string | undefined;
  user?: string | undefined;
  password?: string | undefined;
  tls?: boolean | undefined;
  ca?: string | undefined;
  certificate?: string | undefined;
  key?: string | undefined;
}

/** Changes that etcd takes in one transaction, less what founding a cluster changes besides its groups. */
const etcdGroupsMax = 126;

/** Throws RangeError. */
export function parseCoordinator(written: string): CoordinatorPlace {
  const [, kind, where] = /^(local|etcd):(.+)$/.exec(written) ?? [];
  if (kind === 'local') return { kind, folder: where! };
  if (kind !== 'etcd')
    throw new RangeError(`"${written}" is no coordinator: local:DIR or etcd:HOST:PORT[,HOST:PORT...]`);
  const endpoints = where!.split(',').map(parseEndpoint);
  if (endpoints.some(({ port }) => port === 0)) throw new RangeError(`"${written}" has a port 0`);
  return { kind, endpoints };
}

/** Puts the two together. Throws RangeError, which names the setting, if they do not fit. */
export function coordinatorSettings(
  place: CoordinatorPlace | null,
  raw: RawEtcdSettings,
  groups: number,
): CoordinatorSettings | null {
  if (place?.kind !== 'etcd') {
    const [name] = Object.entries(raw).find(([, value]) => value !== undefined) ?? [];
    if (name !== undefined) throw new RangeError(`etcd-${name}: the coordinator is no etcd`);
    return place;
  }
  const { prefix = '/understudy', user, password, ca, certificate, key } = raw;
  if (!/^(?:\/[^/]+)+$/.test(prefix)) throw new RangeError(`etcd-prefix: "${prefix}" is no prefix such as /understudy`);
  if ((user === undefined) !== (password === undefined))
    throw new RangeError('etcd-user: etcd-user and etcd-password belong together');
  if ((certificate === undefined) !== (key === undefined))
    throw new RangeError('etcd-certificate: etcd-certificate and etcd-key belong together');
  const files = ca !== undefined || certificate !== undefined;
  if (raw.tls === false && files) throw new RangeError('etcd-tls: false, but files for TLS are named');
  if (groups > etcdGroupsMax) throw new RangeError(`groups: at most ${etcdGroupsMax} with etcd`);
  return {
    ...place,
    prefix,
    user: user === undefined ? null : { name: user, password: password! },
    tls: (raw.tls ?? files) ? { ca, certificate, key } : null,
  };
}

/**
 * What a node may be told, by option or by configuration file: same names, same texts. The command line goes before the file,
 * the file before the defaults. Everything is read and checked here, once; the rest of the program gets plain values.
 */
import * as v from 'valibot';
import { protocolVersions } from '../base/versions.js';
import { type LogLevel, logLevels } from '../process/log-level.js';
import { type CoordinatorSettings, coordinatorSettings, parseCoordinator } from './coordinator.js';
import { type Endpoint, parseEndpoint } from './endpoint.js';
import { checkSecret, type LinkSettings, linkSettings } from './links.js';
import { parseBytes, parseDuration } from './quantities.js';
import { clientChecks, loginParts, type TlsOptions } from '../security/tls-options.js';
import { parseWatermark, type Watermark } from './watermark.js';
import { parseTlsPlace, tlsEndpoint, tlsSettings } from './tls.js';

/** An option or a line of the configuration file that makes no sense; the text names it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Values as they were written, by option name without the dashes. */
export type RawSettings = Readonly<Record<string, unknown>>;

export interface NodeSettings {
  node: string;
  data: string;
  /** Null: not in the clear. */
  amqp: Endpoint | null;
  /** Null: no HTTP, or not in the clear. */
  http: Endpoint | null;
  /** Both over TLS; null: not at all. */
  amqps: Endpoint | null;
  https: Endpoint | null;
  /** Null: nothing is listened for over TLS. */
  tls: TlsOptions | null;
  /** Where the other brokers reach this one. */
  cluster: Endpoint;
  /** Null: a broker that is alone. */
  coordinator: CoordinatorSettings | null;
  /** Null: a broker that is alone. */
  links: LinkSettings | null;
  replicas: number;
  minInSync: number;
  groups: number;
  /** Who serves ordinary clients: every node, or the primary alone (hot standby). */
  clients: (typeof clientPolicies)[number];
  /** Where groups are led: on all nodes, or on a single one. */
  placement: (typeof placements)[number];
  /** Which queues are on several nodes, where neither queue nor policy says so. */
  replicate: (typeof replicateDefaults)[number];
  memoryBytes: number;
  /** Null: what goes with `memoryBytes`. */
  memoryHighWatermark: Watermark | null;
  diskFreeBytesMin: number;
  /** Whose publishers wait while the disk has less: this node's, or the cluster's. */
  diskAlarm: (typeof diskAlarms)[number];
  /** What clients are told that this is. */
  product: (typeof products)[number];
  lead: boolean;
  /** The newest protocol version that the node speaks. */
  protocol: number;
  reReplicateAfterMs: number;
  timeShareMs: number;
  leaseMs: number;
  /** Users who may come from this machine only. */
  loopbackUsers: readonly string[];
  /** Who logs in without a name (ANONYMOUS); '' = nobody may. */
  anonymousUser: string;
  /** Origins of pages that may connect over WebSocket, in lower case; '*' = all. */
  websocketOrigins: readonly string[];
  /** A file with definitions that are imported at each start; null: none. */
  loadDefinitions: string | null;
  logLevel: LogLevel;
}

const replicateDefaults = ['all', 'durable', 'none'] as const;
const diskAlarms = ['node', 'cluster'] as const;
const products = ['understudy', 'rabbitmq'] as const;
const clientPolicies = ['any', 'primary'] as const;
const placements = ['spread', 'single', 'ring', 'follow-consumers', 'time-shared'] as const;

const text = v.pipe(v.union([v.string(), v.number(), v.boolean()]), v.transform(String));

/** A text that `read` turns into a value, or throws RangeError about. */
function read<T>(
  parse: (text: string) => T,
  written: v.GenericSchema<string> | typeof text = text,
): v.GenericSchema<unknown, T> {
  return v.pipe(
    written,
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      try {
        return parse(dataset.value);
      } catch (error) {
        addIssue({ message: (error as Error).message });
        return NEVER;
      }
    }),
  );
}

/** A text and nothing else: a number may be read as another one than was written. */
const secret = read(checkSecret, v.string('a secret is a text: put it in quotes'));

const tlsFiles = v.strictObject(
  { ca: v.string(), certificate: v.string(), key: v.string() },
  'three names of files are needed: ca, certificate and key',
);

function whole(least: number, most: number): v.GenericSchema<unknown, number> {
  return read((written) => {
    const value = Number(written);
    if (!/^\d+$/.test(written) || value < least || value > most)
      throw new RangeError(`"${written}" is no whole number from ${least} to ${most}`);
    return value;
  });
}

function oneOf<const T extends string>(values: readonly T[]): v.GenericSchema<unknown, T> {
  return read((written) => {
    const value = values.find((candidate) => candidate === written);
    if (value === undefined) throw new RangeError(`"${written}" is none of ${values.join(', ')}`);
    return value;
  });
}

function atLeast(read: (text: string) => number, least: number, what: string): (text: string) => number {
  return (written) => {
    const value = read(written);
    if (value < least) throw new RangeError(`"${written}" is less than ${what}`);
    return value;
  };
}

function nodeName(written: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(written))
    throw new RangeError(`"${written}" is no node name: letters, digits, and _ . - after the first`);
  return written;
}

function folder(written: string): string {
  if (written === '') throw new RangeError('the name of a folder is missing');
  return written;
}

/** `a,b`, or `none`. */
function nameList(written: string): string[] {
  if (written === 'none') return [];
  const names = written.split(',').map((name) => name.trim());
  if (names.includes('')) throw new RangeError(`"${written}" is no list of names, such as guest,test, nor none`);
  return names;
}

function originList(written: string): string[] {
  const origins = nameList(written).map((origin) => origin.toLowerCase());
  const wrong = origins.find((origin) => origin !== '*' && !/^[a-z][a-z0-9+.-]*:\/\/[^/\s]+$/.test(origin));
  if (wrong !== undefined)
    throw new RangeError(`"${wrong}" is no origin, such as https://shop.example or http://localhost:8080, nor *`);
  return origins;
}

function file(written: string): string {
  if (written === '') throw new RangeError('the name of a file is missing');
  return written;
}

function plainPlace(written: string): Endpoint | null {
  return written === 'off' ? null : parseEndpoint(written);
}

const mebibyte = 1024 * 1024;

/** As RabbitMQ's. */
const usualPorts = { amqps: 5671, https: 15_671 };

const schema = v.strictObject({
  node: v.optional(read(nodeName), 'n1'),
  data: v.optional(read(folder), './understudy-data'),
  amqp: v.optional(read(plainPlace), '127.0.0.1:5672'),
  http: v.optional(read(plainPlace), '127.0.0.1:15672'),
  amqps: v.optional(read(parseTlsPlace), 'off'),
  https: v.optional(read(parseTlsPlace), 'off'),
  'tls-certificate': v.optional(read(file)),
  'tls-key': v.optional(read(file)),
  'tls-ca': v.optional(read(file)),
  'tls-clients': v.optional(oneOf(clientChecks)),
  'tls-login-from': v.optional(oneOf(loginParts)),
  cluster: v.optional(read(parseEndpoint), '127.0.0.1:25672'),
  coordinator: v.optional(read(parseCoordinator)),
  'cluster-secret': v.optional(secret),
  'cluster-secret-file': v.optional(read(file)),
  'cluster-insecure': v.optional(oneOf(['true', 'false'])),
  'cluster-tls': v.optional(tlsFiles),
  'etcd-prefix': v.optional(text),
  'etcd-user': v.optional(text),
  'etcd-password': v.optional(text),
  'etcd-tls': v.optional(oneOf(['true', 'false'])),
  'etcd-ca': v.optional(read(file)),
  'etcd-certificate': v.optional(read(file)),
  'etcd-key': v.optional(read(file)),
  replicas: v.optional(whole(1, 31), '3'),
  'min-in-sync': v.optional(whole(1, 31), '1'),
  groups: v.optional(whole(1, 1024), '16'),
  clients: v.optional(oneOf(clientPolicies), 'any'),
  placement: v.optional(oneOf(placements)),
  replicate: v.optional(oneOf(replicateDefaults), 'all'),
  memory: v.optional(read(atLeast(parseBytes, 16 * mebibyte, '16MiB')), '256MiB'),
  'memory-high-watermark': v.optional(read(parseWatermark)),
  'disk-free-min': v.optional(read(parseBytes), '50MiB'),
  'disk-alarm': v.optional(oneOf(diskAlarms), 'node'),
  product: v.optional(oneOf(products), 'understudy'),
  lead: v.optional(oneOf(['true', 'false']), 'true'),
  protocol: v.optional(whole(protocolVersions.min, protocolVersions.max), String(protocolVersions.max)),
  're-replicate-after': v.optional(read(parseDuration), '10m'),
  'time-share': v.optional(read(parseDuration), '10s'),
  'loopback-users': v.optional(read(nameList), 'guest'),
  'anonymous-user': v.optional(text, ''),
  'websocket-origins': v.optional(read(originList), 'none'),
  lease: v.optional(read(atLeast(parseDuration, 600, '600ms')), '2s'),
  'load-definitions': v.optional(read(file)),
  'log-level': v.optional(oneOf(logLevels), 'info'),
});

type Output = v.InferOutput<typeof schema>;

function coordinatorOf(output: Output): CoordinatorSettings | null {
  const tls = output['etcd-tls'];
  try {
    return coordinatorSettings(
      output.coordinator ?? null,
      {
        prefix: output['etcd-prefix'],
        user: output['etcd-user'],
        password: output['etcd-password'],
        tls: tls === undefined ? undefined : tls === 'true',
        ca: output['etcd-ca'],
        certificate: output['etcd-certificate'],
        key: output['etcd-key'],
      },
      output.groups,
    );
  } catch (error) {
    throw new ConfigError((error as Error).message);
  }
}

/** In hot standby one node leads all: it could not serve alone otherwise. */
function placementOf({ clients, placement }: Output): NodeSettings['placement'] {
  if (clients === 'any') return placement ?? 'spread';
  if (placement !== undefined && placement !== 'single')
    throw new ConfigError('placement: with "clients: primary" it can be single only');
  return 'single';
}

function linksOf(output: Output, coordinator: CoordinatorSettings | null): LinkSettings | null {
  try {
    return linkSettings(coordinator, output.cluster, {
      secret: output['cluster-secret'],
      'secret-file': output['cluster-secret-file'],
      insecure: output['cluster-insecure'] === 'true' ? true : undefined,
      tls: output['cluster-tls'],
    });
  } catch (error) {
    throw new ConfigError((error as Error).message);
  }
}

function tlsOf(output: Output): Pick<NodeSettings, 'amqps' | 'https' | 'tls'> {
  const amqps = tlsEndpoint(output.amqps, output.amqp, usualPorts.amqps);
  const https = tlsEndpoint(output.https, output.http, usualPorts.https);
  if (amqps === null && output.amqp === null)
    throw new ConfigError('amqp: off, and so is amqps: no client could connect');
  try {
    const tls = tlsSettings(amqps !== null || https !== null, {
      certificate: output['tls-certificate'],
      key: output['tls-key'],
      ca: output['tls-ca'],
      clients: output['tls-clients'],
      'login-from': output['tls-login-from'],
    });
    return { amqps, https, tls };
  } catch (error) {
    throw new ConfigError((error as Error).message);
  }
}

/** Names of all settings, as options and in the file. */
export const settingNames: readonly string[] = Object.keys(schema.entries);

/** @param layers the first goes before the others; what none names has its default. Throws ConfigError. */
export function readSettings(...layers: readonly RawSettings[]): NodeSettings {
  const raw = Object.assign({}, ...layers.toReversed()) as RawSettings;
  const result = v.safeParse(schema, raw);
  if (!result.success) {
    const issue = result.issues[0];
    const name = String(issue.path?.[0]?.key ?? '');
    if (!settingNames.includes(name)) throw new ConfigError(`there is no setting "${name}"`);
    throw new ConfigError(`${name}: ${issue.message}`);
  }
  const { output } = result;
  if (output['min-in-sync'] > output.replicas)
    throw new ConfigError(`min-in-sync: ${output['min-in-sync']} is more than the ${output.replicas} replicas`);
  const coordinator = coordinatorOf(output);
  return {
    node: output.node,
    data: output.data,
    amqp: output.amqp,
    http: output.http,
    ...tlsOf(output),
    cluster: output.cluster,
    coordinator,
    links: linksOf(output, coordinator),
    replicas: output.replicas,
    minInSync: output['min-in-sync'],
    groups: output.groups,
    clients: output.clients,
    placement: placementOf(output),
    replicate: output.replicate,
    memoryBytes: output.memory,
    memoryHighWatermark: output['memory-high-watermark'] ?? null,
    diskAlarm: output['disk-alarm'],
    diskFreeBytesMin: output['disk-free-min'],
    product: output.product,
    lead: output.lead === 'true',
    protocol: output.protocol,
    reReplicateAfterMs: output['re-replicate-after'],
    timeShareMs: output['time-share'],
    leaseMs: output.lease,
    loopbackUsers: output['loopback-users'],
    loadDefinitions: output['load-definitions'] ?? null,
    anonymousUser: output['anonymous-user'],
    websocketOrigins: output['websocket-origins'],
    logLevel: output['log-level'],
  };
}

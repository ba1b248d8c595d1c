import { type Command, Option } from 'commander';
import type { RawSettings } from '../config/settings.js';

/** Options that make a node what it is; `cluster` passes them on to each of its nodes. Checked by config/settings. */
const shared: readonly [flags: string, description: string][] = [
  ['--replicas <n>', 'replicas of each queue, when the cluster is founded (default 3)'],
  ['--min-in-sync <n>', 'replicas that must have a message before its confirm, when founded (default 1)'],
  ['--groups <n>', 'replicated groups, when founded (default 16)'],
  [
    '--clients <who>',
    'any: every node serves clients; primary: one node, with hot standbys; when founded (default any)',
  ],
  [
    '--placement <where>',
    'who leads: spread, single, ring, follow-consumers or time-shared; when founded (default spread)',
  ],
  ['--replicate <what>', 'queues that are on several nodes: all, durable or none; when founded (default all)'],
  ['--memory <bytes>', 'memory for messages; beyond it they live on disk only (default 256MiB)'],
  [
    '--memory-high-watermark <bytes>',
    "publishers of all nodes wait above this: bytes, a share of the machine's memory such as 0.6, or off (default 4 times --memory and 512MiB)",
  ],
  ['--product <name>', 'what clients are told that this is: understudy or rabbitmq (default understudy)'],
  ['--disk-free-min <bytes>', 'publishers wait below this much free disk space (default 50MiB)'],
  ['--disk-alarm <whose>', 'whose publishers wait then: node or cluster (default node)'],
  [
    '--time-share <time>',
    'how long a node leads a group that others have consumers of, with time-shared (default 10s)',
  ],
  ['--re-replicate-after <time>', "another node takes a lost replica's place after this (default 10m)"],
  ['--protocol <version>', 'newest protocol version that the node speaks (default: all that it knows)'],
  ['--loopback-users <names>', 'users who may connect from this machine only, or none (default guest)'],
  ['--anonymous-user <name>', 'the user that a client without a name is; without: such clients are refused'],
  [
    '--websocket-origins <origins>',
    'whose pages may connect over WebSocket: origins such as https://shop.example, * or none (default none)',
  ],
  ['--load-definitions <file>', 'definitions that are imported at each start, as `understudy definitions` writes them'],
  ['--lease <time>', 'how long a silent primary keeps its place (default 2s)'],
  ['--tls-certificate <file>', 'certificate of the broker, PEM, for amqps and https'],
  ['--tls-key <file>', 'its key, PEM'],
  ['--tls-ca <file>', "authority of clients' certificates, PEM"],
  ['--tls-clients <check>', 'certificates of clients: none, request or require (default none)'],
  [
    '--tls-login-from <part>',
    'what of it names the user for EXTERNAL: distinguished-name, common-name, dns, email or uri',
  ],
  ['--log-level <level>', 'debug, info, warn, error or silent (default info)'],
];

const own: readonly [flags: string, description: string][] = [
  ['--node <name>', "this node's name, unique in the cluster (default n1)"],
  ['--data <dir>', 'folder of the journal (default ./understudy-data)'],
  ['--amqp <host:port>', 'where AMQP clients connect, or off (default 127.0.0.1:5672)'],
  ['--amqps <host:port>', 'the same over TLS; on: port 5671 of that host (default off)'],
  ['--http <host:port>', 'where HTTP is served, or off (default 127.0.0.1:15672)'],
  ['--https <host:port>', 'the same over TLS; on: port 15671 of that host (default off)'],
  ['--cluster <host:port>', 'where the other brokers connect (default 127.0.0.1:25672)'],
  ['--coordinator <where>', 'makes it a node of a cluster: local:DIR, or etcd:HOST:PORT[,...]; without: one broker'],
  [
    '--cluster-secret-file <file>',
    'file with the secret that all brokers of the cluster have (with local: made by itself)',
  ],
  ['--lead <true|false>', 'false: primary of nothing, if it can be avoided (default true)'],
];

export function addNodeOptions(command: Command): Command {
  for (const [flags, description] of own) command.addOption(new Option(flags, description));
  return addSharedOptions(command);
}

export function addSharedOptions(command: Command): Command {
  for (const [flags, description] of shared) command.addOption(new Option(flags, description));
  return command;
}

/** What the command line named, under the names of the settings (`minInSync` → `min-in-sync`). */
export function rawSettings(options: Readonly<Record<string, unknown>>): RawSettings {
  const raw: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) {
    raw[name.replaceAll(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`)] = value;
  }
  return raw;
}

/** Of the raw settings, those that `cluster` passes on to its nodes. */
export function sharedSettings(raw: RawSettings): RawSettings {
  const names = shared.map(([flags]) => flags.slice(2).split(' ', 1)[0]!);
  return Object.fromEntries(Object.entries(raw).filter(([name]) => names.includes(name)));
}

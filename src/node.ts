/**
 * A node as a process runs it: BrokerNode on the real clock, disk and network, with its AMQP and HTTP servers. The one place
 * where everything is put together; command line and embedding API both start nodes here.
 *
 *   HTTP listens (it says "joining") → the AMQP port is tried → BrokerNode.start → AMQP listens → the map is told → ready
 *
 * Clients are let in only when the node's role is known. Stopping goes the other way.
 */
import { headerCodec } from './amqp091/header-codec.js';
import { headerCodec10 } from './amqp10/header-codec.js';
import { Amqp10Server } from './amqp10/server.js';
import { createServer } from 'node:net';
import { defaultLimits, type Limits, limitsForOpenFiles } from './amqp091/limits.js';
import { type ProductName, productAs } from './amqp091/product.js';
import { type Amqp091Server, createAmqp091Server } from './amqp091/server.js';
import type { Transport } from './amqp091/connection-context.js';
import type { Clock } from './base/clock.js';
import type { Logger } from './base/logger.js';
import { fullSlices } from './base/slices.js';
import { Feature } from './base/versions.js';
import { Turn } from './base/turn.js';
import { BrokerNode } from './broker-node.js';
import type { BrokerOptions } from './broker-options.js';
import type { Coordinator } from './cluster/coordinator/coordinator.js';
import type { ClusterSecret } from './cluster/link/cluster-secret.js';
import { InputTurns } from './base/input-turns.js';
import { RareLog } from './base/rare-log.js';
import { turnedAwayText } from './cluster/link/links.js';
import { type LinkTls, TcpTransport } from './cluster/link/tcp-transport.js';
import { type Endpoint, formatEndpoint } from './config/endpoint.js';
import { ConfigError } from './config/settings.js';
import type { ManagementServer } from './management/server.js';
import { ProcessClock } from './process/clock.js';
import { ProcessMemory } from './process/memory.js';
import { openFilesMax } from './process/open-files.js';
import { processRandom } from './process/random.js';
import { Authenticator } from './security/authenticator.js';
import { Occupancy } from './security/occupancy.js';
import { Realm, Tag } from './security/realm.js';
import type { UserDescription } from './model/access/operations.js';
import { headersByFormat } from './model/dead-letter/headers-by-format.js';
import type { CertificateFiles, Certificates } from './security/certificate-files.js';
import type { CertificateUser, CertificateWatch } from './security/certificate-watch.js';
import type { TlsEntrance } from './security/tls-entrance.js';
import type { TlsOptions } from './security/tls-options.js';
import { MemoryDisk } from './store/memory-disk.js';
import { NodeDisk } from './store/node-disk.js';
import type { Disk } from './store/disk.js';
import { version } from './version.js';
import { WebSocketEntrance } from './websocket/web-socket-entrance.js';

/** A node's place in a cluster. */
export interface ClusterPlace {
  listen: Endpoint;
  coordinator: Coordinator;
  secret: ClusterSecret;
  /** Null: links are not encrypted. */
  tls: LinkCertificates | null;
}

/** What a node shows to the others. */
export interface LinkCertificates {
  files: CertificateFiles & { ca: string };
  current: LinkTls;
}

export interface NodeOptions {
  /** Unique in the cluster. */
  node: string;
  /** Null: not in the clear. */
  amqp: Endpoint | null;
  /** Null: no HTTP, or not in the clear. */
  http: Endpoint | null;
  /** Both over TLS; null: not at all. */
  amqps: Endpoint | null;
  https: Endpoint | null;
  /** Null: nothing is listened for over TLS. */
  tls: TlsOptions | null;
  /** A folder, or a disk that outlives the node (a cluster in memory). */
  data: string | Disk;
  /** Null: a broker that is alone. */
  cluster: ClusterPlace | null;
  logger: Logger;
  /** What clients are told that this is; default: understudy. */
  product?: ProductName;
  /**
   * Passwords by user name: they are always there on this node, and may do everything. Undefined: the cluster's users alone, of whom
   * guest is the first.
   */
  users: ReadonlyMap<string, string> | undefined;
  /** A file with definitions that are imported at each start. */
  definitions?: string | null;
  /** Users who may come from this machine only. */
  loopbackUsers: readonly string[];
  /** Who comes without a name; '' = nobody may. */
  anonymousUser: string;
  /** Origins of pages that may connect over WebSocket, in lower case; '*' = all. Default: none but of this very port. */
  websocketOrigins?: readonly string[];
  /** What is not named has its default; see `brokerDefaults`. */
  broker: Partial<BrokerOptions>;
}

/** What can go wrong with a node that runs, and ends it: the others take over. */
export type FailureListener = (reason: string) => void;

/** With whom a cluster begins whose program names nobody, as RabbitMQ's do. */
const defaultUsers: ReadonlyMap<string, string> = new Map([['guest', 'guest']]);

const later = (run: () => void): void => void setImmediate(run);

export class Node {
  readonly name: string;
  readonly broker: BrokerNode;
  /** Where clients connect; ports are those bound. Null: they cannot. */
  amqp: Endpoint | null;
  http: Endpoint | null;
  amqps: Endpoint | null;
  https: Endpoint | null;
  private readonly options: NodeOptions;
  /** With whom the cluster begins: nobody, if there are definitions with users. */
  private readonly first: Map<string, string>;
  private readonly clock: Clock = new ProcessClock();
  private readonly turn: Turn = new Turn(setImmediate, () => this.clock.now());
  private readonly folder: NodeDisk | undefined;
  private readonly authenticator: Authenticator;
  /** Of links over TLS. */
  private transport: TcpTransport | undefined;
  private readonly certificates: CertificateWatch[] = [];
  private amqpServer: Amqp091Server | undefined;
  private amqp10Server: Amqp10Server | undefined;
  private webSockets: WebSocketEntrance<Transport> | undefined;
  private management: ManagementServer | undefined;
  private stopping: Promise<void> | undefined;

  private constructor(options: NodeOptions, disk: Disk) {
    this.name = options.node;
    this.options = options;
    this.first = new Map(options.users ?? defaultUsers);
    this.amqp = options.amqp;
    this.http = options.http;
    this.amqps = options.amqps;
    this.https = options.https;
    this.folder = disk instanceof NodeDisk ? disk : undefined;
    const { clock, turn } = this;
    const { cluster, logger } = options;
    if (cluster !== null) this.transport = linkTransport(cluster, logger, clock);
    const { transport } = this;
    const ports = cluster === null || transport === undefined ? undefined : { ...cluster, transport };
    this.broker = new BrokerNode(
      {
        clock,
        turn,
        random: processRandom,
        logger,
        disk,
        slices: fullSlices(later),
        cluster: ports,
        headers: headersByFormat(headerCodec, headerCodec10),
        memory: new ProcessMemory(),
        firstUsers: () => this.firstUsers(),
      },
      {
        ...options.broker,
        node: options.node,
        pid: process.pid,
        address: cluster === null ? '' : formatEndpoint(cluster.listen),
      },
    );
    const realm = new Realm({
      access: this.broker.tables.access,
      own: options.users ?? new Map(),
      first: this.first,
      isSettled: () => this.knowsUsers,
      earlier: () => this.broker.recoveredAccess,
    });
    const { loopbackUsers, anonymousUser } = options;
    this.authenticator = new Authenticator({ realm, clock, loopbackUsers, anonymousUser });
  }

  /** All users that the cluster may have are known to this node. */
  private get knowsUsers(): boolean {
    return this.broker.isReady || (this.broker.map?.config?.version ?? Feature.access) < Feature.access;
  }

  private async firstUsers(): Promise<UserDescription[]> {
    const users: UserDescription[] = [];
    for (const [name, password] of this.first)
      users.push({ name, tags: [Tag.administrator], ...(await this.authenticator.passwords.credentials(password)) });
    return users;
  }

  /**
   * Resolves when the node serves. Rejects, with everything closed again, if it cannot: a taken port (`code` EADDRINUSE), a
   * folder in use (FolderLockedError) or not ours (StoreRefusedError), a cluster that refuses it (MembershipError).
   */
  static async start(options: NodeOptions, failed: FailureListener = () => {}): Promise<Node> {
    const node = new Node(options, await openDisk(options));
    node.broker.onFailure = failed;
    try {
      await node.run();
      node.watchJournal(failed);
    } catch (error) {
      await node.stop().catch(() => {});
      throw error;
    }
    return node;
  }

  /** A disk in memory, for `data`. */
  static memoryDisk(): Disk {
    return new MemoryDisk();
  }

  /** Others lead what this node has led; its clients get connection.close; what was acknowledged is on disk. */
  stop(): Promise<void> {
    this.stopping ??= this.close(() => this.dismissClients());
    return this.stopping;
  }

  /** The others are told first: in hot standby they hold clients that come from here until one of them is primary. */
  private async dismissClients(): Promise<void> {
    if (this.amqpServer === undefined) return;
    this.webSockets?.close();
    await this.broker.handOver();
    await this.broker.servesNoMore();
    await Promise.all([this.amqpServer.stop('shutdown'), this.amqp10Server?.stop('shutdown')]);
  }

  /** Ends it as a crash would, as far as clients and other nodes can tell: no word to anybody. */
  kill(): Promise<void> {
    this.stopping ??= this.close(async () => {
      this.webSockets?.close();
      this.amqpServer?.destroy();
      this.amqp10Server?.destroy();
    });
    return this.stopping;
  }

  private async run(): Promise<void> {
    const { options, broker, authenticator } = this;
    const { logger } = options;
    const openFiles = openFilesMax();
    const entrance = await this.openEntrance();
    if (options.http !== null || options.https !== null) {
      const { ManagementServer } = await import('./management/server.js');
      const management = new ManagementServer({ broker, authenticator, logger, openFiles, later });
      this.management = management;
      if (options.http !== null) this.http = await management.listen(options.http);
      if (options.https !== null) this.https = await management.listenTls(options.https, entrance!);
    }
    await checkFree(options.amqp);
    await checkFree(options.amqps);
    await this.startBroker();
    const shared = {
      broker: broker.broker,
      turn: this.turn,
      clock: this.clock,
      logger,
      authenticator,
      admission: broker.admission,
      product: productAs(options.product ?? 'understudy', version, broker.map.config.id),
      inputTurns: new InputTurns(defaultLimits.turnInputBytesMax, later),
      occupancy: new Occupancy(authenticator.realm),
    };
    const limits = { ...clientLimits(openFiles, logger), ...deliveryLimit(options, broker) };
    const other = new Amqp10Server({ ...shared, limits });
    this.amqp10Server = other;
    const webSockets = new WebSocketEntrance<Transport>({
      clock: this.clock,
      logger,
      origins: options.websocketOrigins ?? [],
      entered: (socket, transport) => server.enter(socket, transport),
    });
    this.webSockets = webSockets;
    const others = [other, webSockets];
    const server: Amqp091Server = createAmqp091Server({ ...shared, later, limits, boot: broker.self.boot, others });
    this.amqpServer = server;
    const listen = async ({ host, port }: Endpoint, tls?: TlsEntrance): Promise<Endpoint> => ({
      host,
      port: (await server.listen(host, port, tls)).port,
    });
    if (options.amqp !== null) this.amqp = await listen(options.amqp);
    if (options.amqps !== null) this.amqps = await listen(options.amqps, entrance!);
    await broker.announce({
      amqp: addressOf(this.amqp),
      http: addressOf(this.http),
      ...(this.amqps === null ? {} : { amqps: addressOf(this.amqps) }),
      ...(this.https === null ? {} : { https: addressOf(this.https) }),
    });
  }

  /** With all that its definitions say. */
  private async startBroker(): Promise<void> {
    const { broker, authenticator } = this;
    const { definitions: path, users } = this.options;
    if (path === undefined || path === null) return await broker.start();
    const { loadDefinitions, readDefinitionsFile } = await import('./management/definitions/file.js');
    const definitions = await readDefinitionsFile(path);
    if (users === undefined && definitions.sections.users.length > 0) this.first.clear();
    await broker.start();
    await loadDefinitions(broker, authenticator.passwords, definitions, later);
  }

  /** Through which clients come over TLS; undefined: none do. From here on certificates are watched. */
  private async openEntrance(): Promise<TlsEntrance | undefined> {
    const { clock, transport } = this;
    const { tls, cluster, logger } = this.options;
    if (transport !== undefined && cluster?.tls)
      await this.watchCertificates('links between brokers', cluster.tls, transport);
    if (tls === null) return undefined;
    const { files, clients, loginFrom } = tls;
    const [{ TlsEntrance: Entrance }, { readCertificates }] = await Promise.all([
      import('./security/tls-entrance.js'),
      import('./security/certificate-files.js'),
    ]);
    const current = await readCertificates(files).catch((error: Error) => {
      throw new ConfigError(`tls-${error.message}`);
    });
    const entrance = new Entrance({ certificates: current, clients, loginFrom, clock, logger });
    await this.watchCertificates('AMQP and HTTP', { files, current }, entrance);
    return entrance;
  }

  private async watchCertificates(
    purpose: string,
    { files, current }: { files: CertificateFiles; current: Certificates },
    user: CertificateUser,
  ): Promise<void> {
    const { clock } = this;
    const { logger } = this.options;
    const { CertificateWatch: Watch } = await import('./security/certificate-watch.js');
    this.certificates.push(new Watch({ files, current, user, purpose, clock, logger }));
  }

  /** Reads certificates again that were replaced; what cannot be used is logged, and the old ones stay. Runs by itself soon after a change, too. */
  async reloadCertificates(): Promise<void> {
    await Promise.all(this.certificates.map((watch) => watch.reload()));
  }

  /** After a failed write nothing may be acknowledged before recovery (rule 7): the node has to end. */
  private watchJournal(failed: FailureListener): void {
    const { journal } = this.broker.store;
    if (journal.state === 'failed') throw new Error('the journal has failed');
    journal.onState((state, reason) => {
      if (state === 'failed') failed(`the journal has failed: ${reason}`);
    });
  }

  private async close(endClients: () => Promise<void> | undefined): Promise<void> {
    for (const watch of this.certificates) watch.close();
    try {
      await endClients();
      await this.management?.close();
    } finally {
      await this.broker.stop();
      await this.options.cluster?.coordinator.close();
      await this.folder?.close();
    }
  }
}

function linkTransport({ tls }: ClusterPlace, logger: Logger, clock: Clock): TcpTransport {
  const strangers = new RareLog(logger, clock, turnedAwayText);
  const turnedAway = (remote: string, reason: string): void => strangers.warn({ remote, reason });
  return new TcpTransport({ tls: tls?.current ?? null, turnedAway });
}

/** Whatever keeps the process alive is closed if the folder cannot be had. */
async function openDisk({ data, cluster }: NodeOptions): Promise<Disk> {
  if (typeof data !== 'string') return data;
  try {
    return await NodeDisk.open(data);
  } catch (error) {
    await cluster?.coordinator.close();
    throw error;
  }
}

/** Clients must not take the files that the journal needs. */
function clientLimits(openFiles: number, logger: Logger): Partial<Limits> {
  const limits = limitsForOpenFiles(openFiles);
  if (limits.connectionsMax < defaultLimits.connectionsMax) {
    const { connectionsMax } = limits;
    logger.info('clients are limited by the files that this process may open (ulimit -n)', {
      openFiles,
      connectionsMax,
    });
  }
  return limits;
}

/** Of a node in a cluster: less than what is left of a lease while all is well (see ReplicationLimits.shrinkAtLeftMs). */
function deliveryLimit({ cluster }: NodeOptions, broker: BrokerNode): Partial<Limits> {
  return cluster === null ? {} : { deliverWithinMs: broker.options.times.leaseMs * 0.4 };
}

function addressOf(endpoint: Endpoint | null): string {
  return endpoint === null ? '' : formatEndpoint(endpoint);
}

/** A taken port is found before the broker enters the cluster. */
async function checkFree(endpoint: Endpoint | null): Promise<void> {
  if (endpoint === null || endpoint.port === 0) return;
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(endpoint, resolve);
  });
  await new Promise<void>((resolve) => server.close(() => resolve()));
}

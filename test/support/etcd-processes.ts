/** An etcd of real members on this machine, to be killed, frozen and started again; its files are in a temporary folder. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { endWithTest, untilKilled } from './children.js';
import { sleep } from './cluster-processes.js';
import { freePorts } from './free-ports.js';
import { type Host, thisHost } from './hosts.js';
import { within } from './within.js';

const firstPort = 24_000;
const startMsMax = 20_000;
const pollMs = 20;
/** Of a member's log, in what a failed start says. */
const logBytesMax = 2000;
/** Short, so that tests are: an election takes a second at most. */
const timing = ['--heartbeat-interval', '50', '--election-timeout', '500'];

/** Where tools/test/etcd.mjs puts it. */
const binary: string = process.env['UNDERSTUDY_ETCD'] ?? 'node_modules/.cache/understudy/etcd/usr/bin/etcd';

interface Member {
  child: ChildProcess;
  /** Resolves when it is gone, or was never there. */
  ended: Promise<void>;
}

export interface EtcdTls {
  ca: string;
  certificate: string;
  key: string;
}

export class EtcdProcesses implements AsyncDisposable {
  readonly folder: string;
  private readonly ports: readonly number[];
  private readonly tls: EtcdTls | undefined;
  private readonly hosts: readonly Host[];
  private readonly members: (Member | undefined)[] = [];
  /** How a member came to its end; of those that have ended. */
  private readonly ends: (string | undefined)[] = [];

  private constructor(folder: string, ports: readonly number[], tls: EtcdTls | undefined, hosts: readonly Host[]) {
    this.folder = folder;
    this.ports = ports;
    this.tls = tls;
    this.hosts = hosts;
  }

  /** Resolves when all members serve. @param hosts where each runs, if not here @param tls names of PEM files; members then ask clients for a certificate of that CA */
  static async start(members = 3, tls?: EtcdTls, hosts: readonly Host[] = []): Promise<EtcdProcesses> {
    if (!existsSync(binary)) throw new Error(`there is no ${binary}: run node tools/test/etcd.mjs`);
    const folder = await mkdtemp(join(tmpdir(), 'understudy-etcd-'));
    const etcd = new EtcdProcesses(folder, await freePorts(firstPort, 2 * members), tls, hosts);
    try {
      await etcd.startAll();
    } catch (error) {
      await etcd[Symbol.asyncDispose]();
      throw error;
    }
    return etcd;
  }

  get count(): number {
    return this.ports.length / 2;
  }

  /** HOST:PORT of each member. */
  get endpoints(): string[] {
    return this.indexes.map((member) => `${this.hostOf(member).address}:${this.ports[member]}`);
  }

  /** For `--coordinator`. */
  get setting(): string {
    return `etcd:${this.endpoints.join(',')}`;
  }

  /** Starts those that do not run; resolves when all serve. */
  async startAll(): Promise<void> {
    for (const member of this.indexes) if (this.members[member] === undefined) this.spawn(member);
    await Promise.all(this.indexes.map((member) => this.untilServing(member)));
  }

  /** Starts a member with the data that it had. */
  async start(member: number): Promise<void> {
    this.spawn(member);
    await this.untilServing(member);
  }

  /** kill -9, frozen or not; resolves when it is gone. */
  async kill(member: number): Promise<void> {
    const running = this.members[member];
    if (running === undefined) return;
    running.child.kill('SIGKILL');
    await untilKilled(running.child, `member ${member} of etcd`, running.ended);
  }

  async killAll(): Promise<void> {
    await Promise.all(this.indexes.map((member) => this.kill(member)));
  }

  /** A backup of what is there now, as `etcdctl snapshot save` makes it. Returns its file. */
  async backUp(): Promise<string> {
    const file = join(this.folder, `backup-${performance.now()}`);
    await this.control(['--endpoints', this.endpoints[0]!, 'snapshot', 'save', file]);
    return file;
  }

  /** Puts all members back to a backup, as the operations guide says: it is another etcd then, with an older state. */
  async restore(file: string): Promise<void> {
    await this.killAll();
    for (const member of this.indexes) {
      const data = join(this.folder, `e${member}`);
      await rm(data, { recursive: true });
      await this.control([
        ...['snapshot', 'restore', file, '--name', `e${member}`, '--data-dir', data],
        ...['--initial-cluster', this.initialCluster, '--initial-cluster-token', `after ${file}`],
        ...['--initial-advertise-peer-urls', this.peerUrl(member)],
      ]);
    }
    await this.startAll();
  }

  private async control(args: readonly string[]): Promise<void> {
    const etcdctl = join(dirname(binary), 'etcdctl');
    await promisify(execFile)(etcdctl, args, { env: { ...process.env, ETCDCTL_API: '3' }, timeout: 20_000 });
  }

  private peerUrl(member: number): string {
    return `http://${this.hostOf(member).address}:${this.ports[this.count + member]}`;
  }

  private get initialCluster(): string {
    return this.indexes.map((other) => `e${other}=${this.peerUrl(other)}`).join(',');
  }

  /** SIGSTOP. */
  freeze(member: number): void {
    this.members[member]?.child.kill('SIGSTOP');
  }

  /** SIGCONT. */
  thaw(member: number): void {
    this.members[member]?.child.kill('SIGCONT');
  }

  /** Waits until the running members agree on a leader. */
  async leader(): Promise<number> {
    for (const deadline = performance.now() + startMsMax; performance.now() < deadline; await sleep(pollMs)) {
      for (const member of this.indexes) {
        const status = await this.request(member, 'maintenance/status', {}).catch(() => undefined);
        if (status !== undefined && status.leader === status.header.member_id) return member;
      }
    }
    throw new Error(`etcd has no leader after ${startMsMax} ms, see ${this.folder}`);
  }

  /** A request of etcd's API in JSON (v3/...), of one member. Rejects if it is refused, or there is no answer in a second. */
  async request(member: number, path: string, body: object): Promise<EtcdAnswer> {
    const response = await fetch(`http://${this.endpoints[member]}/v3/${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(1000),
    });
    const answer = (await response.json()) as EtcdAnswer & { error?: string };
    if (!response.ok) throw new Error(`${path}: ${answer.error}`);
    return answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.killAll();
    await rm(this.folder, { recursive: true, force: true });
  }

  hostOf(member: number): Host {
    return this.hosts[member] ?? thisHost;
  }

  private get indexes(): number[] {
    return Array.from({ length: this.count }, (_, member) => member);
  }

  private spawn(member: number): void {
    const scheme = this.tls === undefined ? 'http' : 'https';
    const client = `${scheme}://${this.endpoints[member]}`;
    const tls = this.tls && [
      '--trusted-ca-file',
      this.tls.ca,
      '--cert-file',
      this.tls.certificate,
      '--key-file',
      this.tls.key,
    ];
    mkdirSync(this.folder, { recursive: true });
    const log = openSync(join(this.folder, `e${member}.log`), 'a');
    const { prefix } = this.hostOf(member);
    const [program, ...before] = [...prefix, binary];
    const child = spawn(
      program!,
      [
        ...before,
        ...['--name', `e${member}`, '--data-dir', join(this.folder, `e${member}`)],
        ...['--listen-client-urls', client, '--advertise-client-urls', client],
        ...['--listen-peer-urls', this.peerUrl(member), '--initial-advertise-peer-urls', this.peerUrl(member)],
        ...['--initial-cluster', this.initialCluster],
        ...['--initial-cluster-token', this.folder, '--logger', 'zap', '--log-level', 'warn'],
        ...timing,
        ...(tls === undefined ? [] : [...tls, '--client-cert-auth']),
      ],
      { stdio: ['ignore', log, log], detached: true },
    );
    closeSync(log);
    this.ends[member] = undefined;
    endWithTest(child);
    const ended = new Promise<void>((resolve) => {
      const end = (how: string): void => {
        if (this.members[member]?.child === child) this.members[member] = undefined;
        this.ends[member] ??= how;
        resolve();
      };
      // Of a process that could not be started there is no other news.
      child.once('error', (error) => end(error.message));
      child.once('exit', (code, signal) => end(signal ?? `exit code ${code}`));
    });
    this.members[member] = { child, ended };
  }

  /** A member serves when it can be asked; with TLS, when it takes a connection. */
  private async untilServing(member: number): Promise<void> {
    const deadline = performance.now() + startMsMax;
    for (;;) {
      if (this.members[member] === undefined)
        throw new Error(`member ${member} of etcd has ended (${this.ends[member]}): ${this.logOf(member)}`);
      try {
        if (this.tls !== undefined) return await connects(this.ports[member]!);
        const { leader } = await this.request(member, 'maintenance/status', {});
        if (leader === undefined) throw new Error('no leader');
        return;
      } catch (error) {
        if (performance.now() > deadline)
          throw new Error(
            `member ${member} of etcd does not serve after ${startMsMax} ms: ${reasonOf(error)}; its log: ${this.logOf(member)}`,
          );
        await sleep(pollMs);
      }
    }
  }

  /** The end of it. */
  private logOf(member: number): string {
    const path = join(this.folder, `e${member}.log`);
    return existsSync(path) ? readFileSync(path, 'utf8').slice(-logBytesMax).trim() || 'empty' : 'none';
  }
}

export interface EtcdAnswer {
  header: { member_id: string; revision: string };
  leader?: string;
}

async function connects(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  const opened = new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  await within(1000, 'a connection', opened).finally(() => socket.destroy());
}

/** What stands behind "fetch failed". */
function reasonOf(error: unknown): string {
  const { cause } = error as Error;
  return cause === undefined ? String(error) : `${String(error)} (${String(cause)})`;
}

/** An etcd of real members on this machine, to be killed, frozen and started again; its files are in a temporary folder. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endWithTest } from './children.js';
import { sleep } from './cluster-processes.js';
import { freePorts } from './free-ports.js';

const firstPort = 24_000;
const startMsMax = 20_000;
const pollMs = 20;
/** Short, so that tests are: an election takes a second at most. */
const timing = ['--heartbeat-interval', '50', '--election-timeout', '500'];

/** Where tools/test/etcd.mjs puts it. */
const binary: string = process.env['UNDERSTUDY_ETCD'] ?? 'node_modules/.cache/understudy/etcd/usr/bin/etcd';

export interface EtcdTls {
  ca: string;
  certificate: string;
  key: string;
}

export class EtcdProcesses implements AsyncDisposable {
  readonly folder: string;
  private readonly ports: readonly number[];
  private readonly tls: EtcdTls | undefined;
  private readonly children: (ChildProcess | undefined)[] = [];

  private constructor(folder: string, ports: readonly number[], tls: EtcdTls | undefined) {
    this.folder = folder;
    this.ports = ports;
    this.tls = tls;
  }

  /** Resolves when all members serve. @param tls names of PEM files; members then ask clients for a certificate of that CA */
  static async start(members = 3, tls?: EtcdTls): Promise<EtcdProcesses> {
    if (!existsSync(binary)) throw new Error(`there is no ${binary}: node tools/test/etcd.mjs`);
    const folder = await mkdtemp(join(tmpdir(), 'understudy-etcd-'));
    const etcd = new EtcdProcesses(folder, await freePorts(firstPort, 2 * members), tls);
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
    return this.indexes.map((member) => `127.0.0.1:${this.ports[member]}`);
  }

  /** For `--coordinator`. */
  get setting(): string {
    return `etcd:${this.endpoints.join(',')}`;
  }

  /** Starts those that do not run; resolves when all serve. */
  async startAll(): Promise<void> {
    for (const member of this.indexes) if (this.children[member] === undefined) this.spawn(member);
    await Promise.all(this.indexes.map((member) => this.untilServing(member)));
  }

  /** Starts a member with the data that it had. */
  async start(member: number): Promise<void> {
    this.spawn(member);
    await this.untilServing(member);
  }

  /** kill -9, frozen or not; resolves when it is gone. */
  async kill(member: number): Promise<void> {
    const child = this.children[member];
    if (child === undefined) return;
    const closed = once(child, 'close');
    child.kill('SIGKILL');
    await closed;
  }

  async killAll(): Promise<void> {
    await Promise.all(this.indexes.map((member) => this.kill(member)));
  }

  /** SIGSTOP. */
  freeze(member: number): void {
    this.children[member]?.kill('SIGSTOP');
  }

  /** SIGCONT. */
  thaw(member: number): void {
    this.children[member]?.kill('SIGCONT');
  }

  /** Waits until the running members agree on a leader. */
  async leader(): Promise<number> {
    for (const deadline = performance.now() + startMsMax; performance.now() < deadline; await sleep(pollMs)) {
      for (const member of this.indexes) {
        const status = await this.request(member, 'maintenance/status', {}).catch(() => undefined);
        if (status !== undefined && status.leader === status.header.member_id) return member;
      }
    }
    throw new Error(`no leader, see ${this.folder}`);
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

  private get indexes(): number[] {
    return Array.from({ length: this.count }, (_, member) => member);
  }

  private spawn(member: number): void {
    const scheme = this.tls === undefined ? 'http' : 'https';
    const client = `${scheme}://${this.endpoints[member]}`;
    const peer = (other: number): string => `http://127.0.0.1:${this.ports[this.count + other]}`;
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
    const child = spawn(
      binary,
      [
        ...['--name', `e${member}`, '--data-dir', join(this.folder, `e${member}`)],
        ...['--listen-client-urls', client, '--advertise-client-urls', client],
        ...['--listen-peer-urls', peer(member), '--initial-advertise-peer-urls', peer(member)],
        ...['--initial-cluster', this.indexes.map((other) => `e${other}=${peer(other)}`).join(',')],
        ...['--initial-cluster-token', this.folder, '--logger', 'zap', '--log-level', 'warn'],
        ...timing,
        ...(tls === undefined ? [] : [...tls, '--client-cert-auth']),
      ],
      { stdio: ['ignore', log, log], detached: true },
    );
    closeSync(log);
    this.children[member] = child;
    endWithTest(child);
    child.once('close', () => {
      if (this.children[member] === child) this.children[member] = undefined;
    });
  }

  /** A member serves when it can be asked; with TLS, when it takes a connection. */
  private async untilServing(member: number): Promise<void> {
    const deadline = performance.now() + startMsMax;
    for (;;) {
      const child = this.children[member];
      if (child === undefined) throw new Error(`member ${member} of etcd has ended, see ${this.folder}`);
      try {
        if (this.tls !== undefined) return await connects(this.ports[member]!);
        const { leader } = await this.request(member, 'maintenance/status', {});
        if (leader === undefined) throw new Error('no leader');
        return;
      } catch (error) {
        if (performance.now() > deadline)
          throw new Error(`member ${member} of etcd: ${String(error)}, see ${this.folder}`);
        await sleep(pollMs);
      }
    }
  }
}

export interface EtcdAnswer {
  header: { member_id: string; revision: string };
  leader?: string;
}

async function connects(port: number): Promise<void> {
  const { connect } = await import('node:net');
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect').finally(() => socket.destroy());
}

/**
 * Hosts in network namespaces, each with one cable to the router, which is the test's own namespace (own-network.ts). Packets between
 * hosts can be lost in one direction or in both, without a word to anybody; the test itself reaches all of them, unless they are isolated.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

/** Where tools/test/ip.mjs puts it, if the system has none. */
const fetchedIp = resolve('node_modules/.cache/understudy/iproute2/ip');
export const ipCommand: string = existsSync(fetchedIp) ? fetchedIp : 'ip';

/** Where a process of a test runs. */
export interface Host {
  /** IPv4. */
  readonly address: string;
  /** What comes before the command. */
  readonly prefix: readonly string[];
}

export const thisHost: Host = { address: '127.0.0.1', prefix: [] };

interface NumberedHost extends Host {
  readonly number: number;
}

export class Hosts {
  readonly all: readonly Host[];
  private readonly hosts: readonly NumberedHost[];
  private rules = 0;

  private constructor(hosts: readonly NumberedHost[]) {
    this.hosts = hosts;
    this.all = hosts;
  }

  /** @param count at most 250 */
  static make(count: number): Hosts {
    return new Hosts(Array.from({ length: count }, (_, i) => makeHost(i + 1)));
  }

  /** Packets from one of `from` to one of `to` are lost; the other way they arrive. */
  cutOneWay(from: readonly Host[], to: readonly Host[]): void {
    for (const sender of from)
      for (const receiver of to)
        if (sender !== receiver) this.drop(['iif', cable(this.numberOf(sender)), 'to', receiver.address]);
  }

  cut(some: readonly Host[], others: readonly Host[]): void {
    this.cutOneWay(some, others);
    this.cutOneWay(others, some);
  }

  /** From everybody, the test too. */
  isolate(host: Host): void {
    this.drop(['iif', cable(this.numberOf(host))]);
    this.drop(['to', host.address]);
  }

  /** All packets arrive again. */
  heal(): void {
    for (; this.rules > 0; this.rules--) ip('rule', 'del', 'pref', String(this.rules));
  }

  private drop(which: readonly string[]): void {
    this.rules++;
    ip('rule', 'add', 'pref', String(this.rules), ...which, 'blackhole');
  }

  private numberOf(host: Host): number {
    return this.hosts.find(({ address }) => address === host.address)!.number;
  }
}

/** The router's end of a host's cable. */
function cable(number: number): string {
  return `cable${number}`;
}

function makeHost(number: number): NumberedHost {
  const name = `host${number}`;
  const router = `10.77.${number}.1`;
  const address = `10.77.${number}.2`;
  const inside = ['-n', name];
  ip('netns', 'add', name);
  ip('link', 'add', cable(number), 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
  ip('addr', 'add', `${router}/30`, 'dev', cable(number));
  ip('link', 'set', cable(number), 'up');
  ip(...inside, 'addr', 'add', `${address}/30`, 'dev', 'eth0');
  ip(...inside, 'link', 'set', 'lo', 'up');
  ip(...inside, 'link', 'set', 'eth0', 'up');
  ip(...inside, 'route', 'add', 'default', 'via', router);
  return { number, address, prefix: ['nsenter', `--net=/run/netns/${name}`] };
}

function ip(...words: string[]): void {
  execFileSync(ipCommand, words, { stdio: ['ignore', 'pipe', 'pipe'] });
}

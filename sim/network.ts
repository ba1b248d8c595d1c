/**
 * A simulated network of hosts: what TCP shows to processes. Every ordered pair of hosts has its own link, so that partitions
 * may be symmetric, one-way, or cut one pair only. A blocked link says nothing to anyone: connections stay open on both sides
 * and their bytes wait; only heartbeats tell.
 */
import { DialError, type ByteStream, type Transport } from '../src/cluster/byte-stream.js';
import type { Context, EventLoop } from './event-loop.js';
import type { SimRandom } from './random.js';
import { Pipe, SimStream, type Link } from './stream.js';

interface Listener {
  context: Context;
  accepted: (stream: ByteStream) => void;
}

interface Connection {
  from: string;
  to: string;
  dialer: SimStream;
  acceptor: SimStream;
  forward: Pipe;
  backward: Pipe;
}

class Host {
  readonly name: string;
  /** False: the machine is off; nothing answers. */
  up = true;
  readonly listeners: Map<string, Listener> = new Map();

  constructor(name: string) {
    this.name = name;
  }
}

export interface NetworkProfile {
  latencyMs: number;
  jitterMs: number;
  bytesPerMs: number;
}

/** The host of an address HOST:PORT. */
function hostOf(address: string): string {
  return address.slice(0, address.lastIndexOf(':'));
}

export class SimNetwork {
  private readonly loop: EventLoop;
  private readonly random: SimRandom;
  private readonly profile: NetworkProfile;
  private readonly hosts = new Map<string, Host>();
  private readonly links = new Map<string, Link>();
  private connections: Connection[] = [];

  constructor(loop: EventLoop, random: SimRandom, profile: NetworkProfile) {
    this.loop = loop;
    this.random = random;
    this.profile = profile;
  }

  host(name: string): Host {
    let host = this.hosts.get(name);
    if (host === undefined) {
      host = new Host(name);
      this.hosts.set(name, host);
    }
    return host;
  }

  link(from: string, to: string): Link {
    const key = `${from}>${to}`;
    let link = this.links.get(key);
    if (link === undefined) {
      link = { ...this.profile, blocked: false, filter: undefined, stalled: new Set() };
      this.links.set(key, link);
    }
    return link;
  }

  /** Nothing gets from `from` to `to` any more; what is under way waits. */
  block(from: string, to: string): void {
    this.link(from, to).blocked = true;
  }

  unblock(from: string, to: string): void {
    const link = this.link(from, to);
    if (!link.blocked) return;
    link.blocked = false;
    const stalled = [...link.stalled];
    link.stalled.clear();
    for (const pipe of stalled) pipe.resume();
  }

  /** Everything from `from` to `to` takes `extraMs` longer from now on; 0 puts it back. */
  delay(from: string, to: string, extraMs: number): void {
    this.link(from, to).latencyMs = this.profile.latencyMs + extraMs;
  }

  /** The longest that a byte is under way on any link, unless it is blocked, and without what is before it. */
  get slowestMs(): number {
    let slowest = this.profile.latencyMs + this.profile.jitterMs;
    for (const { latencyMs, jitterMs } of this.links.values()) slowest = Math.max(slowest, latencyMs + jitterMs);
    return slowest;
  }

  healAll(): void {
    for (const key of this.links.keys()) {
      const [from, to] = key.split('>') as [string, string];
      this.unblock(from, to);
      this.delay(from, to, 0);
      this.link(from, to).filter = undefined;
    }
  }

  /** Breaks every connection between two hosts. Each side learns of it at its own time, one of them perhaps much later. */
  breakConnections(a: string, b: string, lateMs: number): void {
    for (const connection of this.open()) {
      const { from, to } = connection;
      if (!((from === a && to === b) || (from === b && to === a))) continue;
      connection.forward.break(0);
      connection.backward.break(0);
      const lateFirst = this.random.chance(0.5);
      this.endLater(connection.dialer, lateFirst ? this.random.float() * lateMs : 0);
      this.endLater(connection.acceptor, lateFirst ? 0 : this.random.float() * lateMs);
    }
  }

  /**
   * A process died. If only the process did, its kernel closes its sockets and answers "refused" from now on; what was written
   * may or may not still go out (`sending`). If the machine went, nobody says anything.
   */
  processDied(host: string, context: Context, machineToo: boolean, sending: boolean): void {
    const machine = this.host(host);
    machine.listeners.clear();
    if (machineToo) machine.up = false;
    for (const connection of this.open()) {
      for (const [mine, theirs, out] of [
        [connection.dialer, connection.acceptor, connection.forward],
        [connection.acceptor, connection.dialer, connection.backward],
      ] as const) {
        if (mine.context !== context) continue;
        out.break(sending ? this.random.int(out.segmentCount + 1) : 0);
        if (machineToo) continue;
        // The reset travels behind what still arrives, unless the link is blocked.
        if (out.segmentCount > 0) out.finish();
        else if (!out.link.blocked) this.endLater(theirs, out.link.latencyMs);
      }
    }
  }

  /** The machine answers again: connections from before are reset. */
  machineUp(host: string): void {
    this.host(host).up = true;
    for (const connection of this.open()) {
      if (connection.from === host && !connection.dialer.context.alive) this.endLater(connection.acceptor, 1);
      if (connection.to === host && !connection.acceptor.context.alive) this.endLater(connection.dialer, 1);
    }
  }

  /** The network as one process sees it. */
  transport(host: string, context: Context): Transport {
    return {
      listen: (address, accepted) => {
        const listeners = this.host(host).listeners;
        listeners.set(address, { context, accepted });
        return this.later(context, 0, {
          address,
          close: (): Promise<void> => {
            listeners.delete(address);
            return this.later(context, 0, undefined);
          },
        });
      },
      dial: (address, timeoutMs) => this.dial(host, context, address, timeoutMs),
    };
  }

  private dial(from: string, context: Context, address: string, timeoutMs: number): Promise<ByteStream> {
    const to = hostOf(address);
    const there = this.link(from, to);
    const back = this.link(to, from);
    return new Promise((resolve, reject) => {
      const fail = (failure: 'refused' | 'unreachable', delayMs: number): void => {
        const reason = failure === 'refused' ? 'nothing listens there' : 'no answer';
        this.loop.after(delayMs, context, () => reject(new DialError(failure, `${from} to ${address}: ${reason}`)));
      };
      const travel = there.latencyMs + this.random.float() * there.jitterMs;
      const returnMs = back.latencyMs + this.random.float() * back.jitterMs;
      if (travel + returnMs > timeoutMs) return fail('unreachable', timeoutMs);
      // The caller's clock runs out even when nobody answers; looked at when the first packet arrives.
      this.loop.after(travel, null, () => {
        const host = this.host(to);
        if (there.blocked || back.blocked || !host.up) return fail('unreachable', timeoutMs - travel);
        const listener = host.listeners.get(address);
        if (listener === undefined) return fail('refused', returnMs);
        this.connect(from, context, to, listener, returnMs, resolve);
      });
    });
  }

  private connect(
    from: string,
    context: Context,
    to: string,
    listener: Listener,
    returnMs: number,
    resolve: (stream: ByteStream) => void,
  ): void {
    const dialer = new SimStream(this.loop, context, to);
    const acceptor = new SimStream(this.loop, listener.context, from);
    const open = this.loop.now + returnMs;
    const forward = new Pipe(this.loop, this.random, this.link(from, to), dialer, acceptor, open);
    const backward = new Pipe(this.loop, this.random, this.link(to, from), acceptor, dialer, open);
    dialer.attach(forward);
    acceptor.attach(backward);
    this.connections.push({ from, to, dialer, acceptor, forward, backward });
    this.loop.at(this.loop.now, listener.context, () => listener.accepted(acceptor));
    this.loop.at(open, context, () => resolve(dialer));
  }

  /** Connections with at least one end that is not closed; forgets the others. */
  private open(): Connection[] {
    this.connections = this.connections.filter(
      (connection) => !connection.dialer.closed || !connection.acceptor.closed,
    );
    return [...this.connections];
  }

  private endLater(stream: SimStream, delayMs: number): void {
    const error = Object.assign(new Error('connection reset'), { code: 'ECONNRESET' });
    this.loop.after(delayMs, stream.context, () => stream.end(error));
  }

  private later<T>(context: Context, delayMs: number, value: T): Promise<T> {
    return new Promise((resolve) => {
      this.loop.after(delayMs, context, () => resolve(value));
    });
  }
}

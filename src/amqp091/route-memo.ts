/**
 * Routes of all channels by the bytes of exchange and routing key, so that publishers with many keys need no strings: a table of sets
 * of two, the one that was stored last first. It forgets all when the wiring changes; what is pushed out, or too long, is found again by
 * `Broker.route`.
 *
 *   bytes    one line of 64 a place: length, then exchange and routing key as basic.publish has them
 */
import type { Route } from '../model/broker.js';
import { sameBytes } from '../wire/bytes.js';

const setsCount = 16_384;
const places = 2 * setsCount;
const lineBytes = 64;
/** Longer ones are not kept. */
const metaBytesMax = lineBytes - 1;

export class RouteMemo {
  private version = Number.NaN;
  private lines: Uint8Array = new Uint8Array(0);
  private routes: (Route | undefined)[] = [];
  private scopes: Int32Array = new Int32Array(0);
  private readonly scopeNumbers = new Map<string, number>();

  /** A number for what routes are found in, and for whom: what somebody may not use, he must not find here. */
  scope(vhost: string, user: string): number {
    const key = `${vhost}\0${user}`;
    let number = this.scopeNumbers.get(key);
    if (number === undefined) {
      number = this.scopeNumbers.size;
      this.scopeNumbers.set(key, number);
    }
    return number;
  }

  /** The route for the `length` bytes at `start`, if it is kept and of that version. */
  find(bytes: Uint8Array, start: number, length: number, scope: number, version: number): Route | undefined {
    if (version !== this.version || length > metaBytesMax) return undefined;
    const place = placeOf(bytes, start, length);
    const first = this.routes[place];
    if (first !== undefined && this.isAt(place, bytes, start, length, scope)) return first;
    const second = this.routes[place + 1];
    return second !== undefined && this.isAt(place + 1, bytes, start, length, scope) ? second : undefined;
  }

  /** Keeps a route that depends on these bytes alone. */
  add(bytes: Uint8Array, start: number, length: number, scope: number, route: Route): void {
    if (length > metaBytesMax) return;
    if (route.version !== this.version) this.clear(route.version);
    const place = placeOf(bytes, start, length);
    const { lines, routes, scopes } = this;
    const line = place * lineBytes;
    lines.copyWithin(line + lineBytes, line, line + lineBytes);
    routes[place + 1] = routes[place];
    scopes[place + 1] = scopes[place]!;
    lines[line] = length;
    lines.set(bytes.subarray(start, start + length), line + 1);
    routes[place] = route;
    scopes[place] = scope;
  }

  private isAt(place: number, bytes: Uint8Array, start: number, length: number, scope: number): boolean {
    const line = place * lineBytes;
    if (this.lines[line] !== length || this.scopes[place] !== scope) return false;
    return sameBytes(bytes, start, this.lines, line + 1, length);
  }

  private clear(version: number): void {
    this.version = version;
    if (this.lines.length === 0) {
      this.lines = new Uint8Array(places * lineBytes);
      this.routes = new Array<Route | undefined>(places).fill(undefined);
      this.scopes = new Int32Array(places);
      return;
    }
    this.routes.fill(undefined);
  }
}

function placeOf(bytes: Uint8Array, start: number, length: number): number {
  let hash = 0x811c9dc5;
  for (let i = start; i < start + length; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
  hash ^= hash >>> 15;
  return 2 * (hash & (setsCount - 1));
}

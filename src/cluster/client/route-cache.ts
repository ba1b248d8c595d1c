import type { ClusterRoute } from './cluster-route.js';

/** Routes kept, at most; beyond it all are forgotten. */
const routesMax = 16_384;

/** Routes that depend on exchange and routing key alone, until the wiring changes. */
export class RouteCache {
  private version = -1;
  private size = 0;
  /** Routes that lead to one queue alone, by its incarnation: keys share them. */
  private readonly toQueue = new Map<number, ClusterRoute>();
  private readonly byVhost = new Map<string, Map<string, Map<string, ClusterRoute>>>();

  find(version: number, vhost: string, exchange: string, routingKey: string): ClusterRoute | undefined {
    if (version !== this.version) this.clear(version);
    return this.byVhost.get(vhost)?.get(exchange)?.get(routingKey);
  }

  add(vhost: string, exchange: string, routingKey: string, route: ClusterRoute): void {
    if (route.version !== this.version || this.size === routesMax) this.clear(route.version);
    let byExchange = this.byVhost.get(vhost);
    if (byExchange === undefined) {
      byExchange = new Map();
      this.byVhost.set(vhost, byExchange);
    }
    let byKey = byExchange.get(exchange);
    if (byKey === undefined) {
      byKey = new Map();
      byExchange.set(exchange, byKey);
    }
    byKey.set(routingKey, route);
    this.size++;
  }

  /** The route to that queue alone, made if there is none; keys that lead there share it. */
  alone(version: number, incarnation: number, make: () => ClusterRoute): ClusterRoute {
    if (version !== this.version) this.clear(version);
    let route = this.toQueue.get(incarnation);
    if (route === undefined) {
      route = make();
      if (this.toQueue.size === routesMax) this.toQueue.clear();
      this.toQueue.set(incarnation, route);
    }
    return route;
  }

  private clear(version: number): void {
    this.version = version;
    this.toQueue.clear();
    if (this.size === 0) return;
    this.size = 0;
    this.byVhost.clear();
  }
}

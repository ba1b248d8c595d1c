import type { WiringOperation } from '../../../src/model/wiring/operations.js';

interface Exchange {
  name: string;
  autoDelete: boolean;
  internal: boolean;
}
interface Queue {
  name: string;
  owner: string;
}
interface Bound {
  source: string;
  kind: string;
  to: string;
  key: string;
}

/** Wiring operations one after the other, written as simply as possible: the reference for the sequencer. */
export class NaiveWiring {
  private exchanges: Exchange[] = [];
  private queues: Queue[] = [];
  private bindings: Bound[] = [];

  /** Returns 'done' or the kind of refusal. */
  run(operation: WiringOperation): string {
    switch (operation.op) {
      case 'declareExchange': {
        const { name, autoDelete, internal } = operation;
        const current = this.exchanges.find((exchange) => exchange.name === name);
        if (current === undefined) this.exchanges.push({ name, autoDelete, internal });
        else if (current.autoDelete !== autoDelete || current.internal !== internal) return 'precondition-failed';
        return 'done';
      }
      case 'deleteExchange':
        if (operation.ifUnused && this.bindings.some((bound) => bound.source === operation.name)) {
          return this.has('exchange', operation.name) ? 'precondition-failed' : 'done';
        }
        this.exchanges = this.exchanges.filter((exchange) => exchange.name !== operation.name);
        this.unbind((bound) => bound.source === operation.name || leadsTo(bound, 'exchange', operation.name));
        return 'done';
      case 'declareQueue': {
        const { name, connection, exclusive, passive } = operation;
        const owner = exclusive ? connection : '';
        const current = this.queues.find((queue) => queue.name === name);
        if (passive)
          return current === undefined ? 'not-found' : this.locked(name, connection) ? 'resource-locked' : 'done';
        if (current === undefined) this.queues.push({ name, owner });
        else if (current.owner !== owner) return 'resource-locked';
        return 'done';
      }
      case 'deleteQueue':
        if (this.locked(operation.name, operation.connection)) return 'resource-locked';
        this.deleteQueue(operation.name);
        return 'done';
      case 'bind':
      case 'unbind': {
        const { source, destinationKind: kind, destination: to, routingKey: key, connection } = operation;
        if (kind === 'queue' && this.locked(to, connection)) return 'resource-locked';
        if (operation.op === 'unbind') {
          this.unbind((bound) => same(bound, { source, kind, to, key }));
          return 'done';
        }
        if (!this.has('exchange', source) || !this.has(kind, to)) return 'not-found';
        if (!this.bindings.some((bound) => same(bound, { source, kind, to, key }))) {
          this.bindings.push({ source, kind, to, key });
        }
        return 'done';
      }
      case 'connectionClosed':
        for (const queue of this.queues) if (queue.owner === operation.connection) this.deleteQueue(queue.name);
        return 'done';
      default:
        throw new Error(operation.op);
    }
  }

  describe(): string[] {
    return [
      ...this.exchanges.map(({ name, autoDelete, internal }) => `exchange ${name} ${autoDelete} ${internal}`),
      ...this.queues.map(({ name, owner }) => `queue ${name} ${owner}`),
      ...this.bindings.map(({ source, kind, to, key }) => `binding ${source} ${kind} ${to} ${key}`),
    ];
  }

  private has(kind: string, name: string): boolean {
    const list: { name: string }[] = kind === 'queue' ? this.queues : this.exchanges;
    return list.some((one) => one.name === name);
  }

  private locked(name: string, connection: string): boolean {
    const owner = this.queues.find((queue) => queue.name === name)?.owner ?? '';
    return owner !== '' && owner !== connection;
  }

  private deleteQueue(name: string): void {
    this.queues = this.queues.filter((queue) => queue.name !== name);
    this.unbind((bound) => leadsTo(bound, 'queue', name));
  }

  /** Removes bindings, and whatever goes with them. */
  private unbind(goes: (bound: Bound) => boolean): void {
    const gone = this.bindings.filter(goes);
    this.bindings = this.bindings.filter((bound) => !goes(bound));
    for (const { source } of gone) {
      const exchange = this.exchanges.find(({ name }) => name === source);
      if (exchange?.autoDelete !== true || this.bindings.some((bound) => bound.source === source)) continue;
      this.exchanges = this.exchanges.filter((other) => other !== exchange);
      this.unbind((bound) => leadsTo(bound, 'exchange', source));
    }
  }
}

function leadsTo(bound: Bound, kind: string, name: string): boolean {
  return bound.kind === kind && bound.to === name;
}

function same(a: Bound, b: Bound): boolean {
  return a.source === b.source && a.kind === b.kind && a.to === b.to && a.key === b.key;
}

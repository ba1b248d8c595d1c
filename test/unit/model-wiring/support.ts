import type { Lsn } from '../../../src/log/lsn.js';
import type { Arguments } from '../../../src/model/broker.js';
import type {
  BindingObject,
  ExchangeObject,
  ExchangeType,
  QueueObject,
  WiringObject,
} from '../../../src/model/wiring/objects.js';
import type {
  ChangeBinding,
  DeclareExchange,
  DeclareQueue,
  WiringAnswer,
  WiringDone,
  WiringOperation,
} from '../../../src/model/wiring/operations.js';
import { plan } from '../../../src/model/wiring/plan.js';
import { defaultLimits, type PlanContext } from '../../../src/model/wiring/planner.js';
import { WiringTables } from '../../../src/model/wiring/tables.js';

export const alice = 'n1/1/1';
export const bob = 'n2/2/1';

export function queueObject(name: string, fields: Partial<QueueObject> = {}): QueueObject {
  return {
    kind: 'queue',
    position: 0,
    vhost: '/',
    name,
    durable: true,
    owner: '',
    autoDelete: false,
    arguments: {},
    group: 1,
    ...fields,
  };
}

export function exchangeObject(name: string, type: ExchangeType, fields: Partial<ExchangeObject> = {}): ExchangeObject {
  return {
    kind: 'exchange',
    position: 0,
    vhost: '/',
    name,
    type,
    durable: true,
    autoDelete: false,
    internal: false,
    arguments: {},
    ...fields,
  };
}

export function bindingObject(
  source: string,
  destination: string,
  routingKey = '',
  fields: Partial<BindingObject> = {},
): BindingObject {
  return {
    kind: 'binding',
    position: 0,
    vhost: '/',
    source,
    destinationKind: 'queue',
    destination,
    routingKey,
    arguments: {},
    durable: true,
    ...fields,
  };
}

export function declareQueue(name: string, fields: Partial<DeclareQueue> = {}): DeclareQueue {
  return {
    op: 'declareQueue',
    vhost: '/',
    name,
    serverNamed: false,
    passive: false,
    durable: true,
    exclusive: false,
    autoDelete: false,
    arguments: {},
    connection: alice,
    ...fields,
  };
}

export function declareExchange(name: string, type = 'direct', fields: Partial<DeclareExchange> = {}): DeclareExchange {
  return {
    op: 'declareExchange',
    vhost: '/',
    name,
    type,
    passive: false,
    durable: true,
    autoDelete: false,
    internal: false,
    arguments: {},
    connection: alice,
    ...fields,
  };
}

export function bind(
  source: string,
  destination: string,
  routingKey = '',
  fields: Partial<ChangeBinding> = {},
): ChangeBinding {
  return {
    op: 'bind',
    vhost: '/',
    source,
    destinationKind: 'queue',
    destination,
    routingKey,
    arguments: {},
    connection: alice,
    ...fields,
  };
}

export function deleteQueue(name: string, incarnation = 0, connection: string = alice): WiringOperation {
  return { op: 'deleteQueue', vhost: '/', name, incarnation, connection };
}

export function deleteExchange(name: string, ifUnused = false): WiringOperation {
  return { op: 'deleteExchange', vhost: '/', name, ifUnused, position: 0 };
}

/** Tables to which planned operations are applied at once: a broker in which everything commits immediately. */
export class InstantWiring {
  readonly tables: WiringTables = new WiringTables();
  readonly gone: Map<string, number> = new Map();
  readonly context: PlanContext = {
    isAlone: false,
    tables: this.tables,
    limits: defaultLimits,
    chooseGroup: (queue: QueueObject): number | undefined => (queue.owner === '' ? this.group : 0x8001),
    replicasMax: (): number => 3,
    version: (): number => this.version,
    isOver: (node: string, boot: number): boolean => boot <= (this.gone.get(node) ?? 0),
    isGone: (node: string, boot: number): boolean => boot <= (this.gone.get(node) ?? 0),
  };
  lsn: Lsn = 0;
  version = 2;
  /** For new queues; undefined: it is being made. */
  group: number | undefined = 1;
  /** Whether it is no cluster's. */
  isAlone = false;
  /** Objects deleted by the last operation. */
  deleted: readonly WiringObject[] = [];

  run(operation: WiringOperation): WiringAnswer {
    const { creates, deletes, answer } = plan({ ...this.context, isAlone: this.isAlone }, operation);
    this.deleted = deletes;
    let position = answer.result === 'done' ? answer.position : 0;
    for (const object of creates) {
      position = ++this.lsn;
      this.tables.appeared(this.lsn, object);
    }
    if (deletes.length > 0) this.lsn++;
    for (const object of deletes) this.tables.gone(object.position);
    this.tables.applied(this.lsn);
    return answer.result === 'done' ? { ...answer, version: this.lsn, position } : answer;
  }

  /** Runs what must succeed. */
  done(operation: WiringOperation): WiringDone {
    const answer = this.run(operation);
    if (answer.result !== 'done') throw new Error(`${operation.op}: ${JSON.stringify(answer)}`);
    return answer;
  }

  /** Runs what must be refused; returns "<kind>: <text>". */
  refused(operation: WiringOperation): string {
    const answer = this.run(operation);
    if (answer.result !== 'refused') throw new Error(`${operation.op}: ${JSON.stringify(answer)}`);
    return `${answer.kind}: ${answer.text}`;
  }

  /** Sorted names of the queues that a message reaches. */
  reaches(exchange: string, routingKey: string, headers: Arguments = {}): string[] {
    return reached(this.tables, exchange, routingKey, headers);
  }
}

export function reached(tables: WiringTables, exchange: string, routingKey: string, headers: Arguments = {}): string[] {
  return tables
    .route('/', exchange, routingKey, () => headers)
    .queues.map((queue) => queue.name)
    .sort();
}

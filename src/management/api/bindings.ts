import type { BrokerNode } from '../../broker-node.js';
import type { Binding } from '../../model/broker.js';
import { requireBinding } from '../../security/declaring.js';
import { argumentTable } from '../argument-table.js';
import { type BindingView, describeBindingObject } from '../describe.js';
import { exchangeOfPath } from '../exchange-name.js';
import { httpConnection } from '../http-connection.js';
import { list } from '../lists/list.js';
import { byEnds } from '../lists/orders.js';
import { propertiesKey } from '../properties-key.js';
import { notFound, optionalText } from '../read.js';
import { Done, type Resource, type ResourceRequest } from '../resource.js';
import { permissionsOf } from '../user-permissions.js';
import { requireVhost, vhostsEntered } from '../vhosts-entered.js';

type Kind = Binding['destinationKind'];

/** Bindings, under RabbitMQ's paths and by its names; those of the default exchange, which nobody has made, are among them. */
export const bindingRoutes: readonly Resource[] = [
  {
    path: '/api/bindings',
    needs: ['management', 'management'],
    get: (request) => listBindings(request, allIn(request, vhostsEntered(request))),
  },
  {
    path: '/api/bindings/:vhost',
    needs: ['management', 'management'],
    get: (request) => listBindings(request, allIn(request, [requireVhost(request)])),
  },
  ...between('queue', 'q'),
  ...between('exchange', 'e'),
  {
    path: '/api/exchanges/:vhost/:name/bindings/source',
    needs: ['management', 'management'],
    get: (request) => listBindings(request, leaving(request.broker, requireVhost(request), exchangeIn(request))),
  },
  {
    path: '/api/exchanges/:vhost/:name/bindings/destination',
    needs: ['management', 'management'],
    get(request) {
      const vhost = requireVhost(request);
      return listBindings(request, leading(request.broker, vhost, 'exchange', exchangeIn(request)));
    },
  },
  {
    path: '/api/queues/:vhost/:name/bindings',
    needs: ['management', 'management'],
    get(request) {
      const vhost = requireVhost(request);
      const name = request.parameters['name']!;
      if (request.broker.tables.queue(vhost, name) === undefined) throw notFound(`queue '${name}' in vhost '${vhost}'`);
      return listBindings(request, leading(request.broker, vhost, 'queue', name));
    },
  },
];

/** From an exchange to a queue or to another exchange. */
function between(kind: Kind, letter: 'q' | 'e'): Resource[] {
  const path = `/api/bindings/:vhost/e/:source/${letter}/:destination`;
  return [
    {
      path,
      needs: ['management', 'management'],
      get: (request) => listBindings(request, ofDestination(request, kind), isFrom(request)),
      async post(request) {
        const { broker, parameters } = request;
        const binding = readBinding(request, kind);
        requireBinding(permissionsOf(request, binding.vhost), isTopic(broker, binding), binding);
        await broker.broker.wiring.bind(binding, httpConnection(broker));
        const location = [parameters['destination']!, propertiesKey(binding)].map(encodeURIComponent).join('/');
        return new Done(201, { location });
      },
    },
    {
      path: `${path}/:props`,
      needs: ['management', 'management'],
      get: async (request) => describe(await find(request, kind)),
      async delete(request) {
        const { broker } = request;
        const binding = await find(request, kind);
        requireBinding(permissionsOf(request, binding.vhost), isTopic(broker, binding), binding);
        await broker.broker.wiring.unbind(binding, httpConnection(broker));
        return new Done(204);
      },
    },
  ];
}

async function listBindings(
  request: ResourceRequest,
  items: Iterable<BindingView>,
  isIn: (binding: BindingView) => boolean = () => true,
): Promise<unknown> {
  return await list<BindingView>(request, { items, isIn, compare: byEnds, describe });
}

function describe(binding: BindingView): Record<string, unknown> {
  return { ...describeBindingObject(binding), properties_key: propertiesKey(binding) };
}

function* allIn({ broker }: ResourceRequest, vhosts: readonly string[]): Generator<BindingView, void> {
  for (const vhost of vhosts) {
    yield* broker.tables.bindingsIn(vhost);
    for (const { name } of broker.tables.queuesIn(vhost)) yield implicit(vhost, name);
  }
}

function* leaving({ tables }: BrokerNode, vhost: string, source: string): Generator<BindingView, void> {
  yield* tables.exchangeTarget(vhost, source)?.outbound() ?? [];
  if (source === '') for (const { name } of tables.queuesIn(vhost)) yield implicit(vhost, name);
}

function* leading({ tables }: BrokerNode, vhost: string, kind: Kind, name: string): Generator<BindingView, void> {
  const target = kind === 'queue' ? tables.queueTarget(vhost, name) : tables.exchangeTarget(vhost, name);
  yield* target?.inbound() ?? [];
  if (kind === 'queue' && tables.queue(vhost, name) !== undefined) yield implicit(vhost, name);
}

/** Each queue is bound to the default exchange by its name. */
function implicit(vhost: string, name: string): BindingView {
  return { vhost, source: '', destination: name, destinationKind: 'queue', routingKey: name, arguments: {} };
}

function ofDestination(request: ResourceRequest, kind: Kind): Generator<BindingView, void> {
  return leading(request.broker, requireVhost(request), kind, destinationOf(request, kind));
}

function isFrom({ parameters }: ResourceRequest): (binding: BindingView) => boolean {
  const source = exchangeOfPath(parameters['source']!);
  return (binding) => binding.source === source;
}

/** Rejects with HttpError 404. */
async function find(request: ResourceRequest, kind: Kind): Promise<BindingView> {
  const { pace } = request;
  const key = request.parameters['props']!;
  const isIn = isFrom(request);
  for (const binding of ofDestination(request, kind)) {
    if (isIn(binding) && propertiesKey(binding) === key) return binding;
    if (pace.isOver) await pace.next();
  }
  throw notFound(`such binding: '${key}' is the properties_key of none between the two`);
}

function destinationOf({ parameters }: ResourceRequest, kind: Kind): string {
  const name = parameters['destination']!;
  return kind === 'exchange' ? exchangeOfPath(name) : name;
}

function exchangeIn({ parameters }: ResourceRequest): string {
  return exchangeOfPath(parameters['name']!);
}

function isTopic({ broker }: BrokerNode, { vhost, source }: BindingView): boolean {
  return broker.isTopicExchange(vhost, source);
}

/** @throws HttpError 400, 404 */
function readBinding(request: ResourceRequest, kind: Kind): Binding {
  const { parameters, body } = request;
  return {
    vhost: requireVhost(request),
    source: exchangeOfPath(parameters['source']!),
    destination: destinationOf(request, kind),
    destinationKind: kind,
    routingKey: optionalText(body, 'routing_key') ?? '',
    arguments: argumentTable(body['arguments']),
  };
}

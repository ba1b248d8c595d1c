import type { BrokerNode } from '../../broker-node.js';
import { listenersOf } from '../endpoints.js';
import { httpConnection } from '../http-connection.js';
import { badRequest } from '../read.js';
import { type Handler, HttpError, type Resource, requireStarted } from '../resource.js';
import { permissionsOf } from '../user-permissions.js';
import { requireVhost } from '../vhosts-entered.js';

/** A queue of this name comes to be in a vhost that is tested, as in RabbitMQ. */
const testedQueue = 'aliveness-test';

/** RabbitMQ's health checks: 200 and `{"status":"ok"}`, or 503 with the reason. */
export const healthCheckRoutes: readonly Resource[] = [
  check('alarms', ({ broker }) => judgeAlarms(broker, undefined)),
  check('local-alarms', ({ broker }) => judgeAlarms(broker, broker.options.node)),
  // A vhost is on all nodes, or on none.
  check('virtual-hosts', () => ok),
  check('node-is-quorum-critical', ({ broker }) => judgeGroups(broker)),
  check('node-is-mirror-sync-critical', ({ broker }) => judgeGroups(broker)),
  check('port-listener/:port', ({ broker, parameters }) => {
    const port = Number(parameters['port']);
    if (!Number.isInteger(port)) throw badRequest(`'${parameters['port']}' is no port`);
    const ports = ownListeners(broker).map((listener) => listener.port);
    if (ports.includes(port)) return { ...ok, port };
    throw new Unhealthy('No active listener', { missing: port, ports });
  }),
  check('protocol-listener/:protocol', ({ broker, parameters }) => {
    const protocol = parameters['protocol']!;
    const asked = aliases[protocol] ?? protocol;
    const protocols = ownListeners(broker).map((listener) => listener.protocol);
    if (protocols.includes(asked)) return { ...ok, protocol };
    throw new Unhealthy('No active listener', { missing: protocol, protocols });
  }),
  {
    path: '/api/aliveness-test/:vhost',
    needs: ['management', 'management'],
    async get(request) {
      const { broker } = request;
      const vhost = requireVhost(request);
      const permissions = permissionsOf(request, vhost);
      for (const what of ['configure', 'read'] as const) permissions.require(what, 'queue', testedQueue);
      const connection = httpConnection(broker);
      const queue = { vhost, name: testedQueue, durable: false, exclusive: false, autoDelete: false, arguments: {} };
      await broker.broker.wiring.declareQueue({ ...queue, passive: false, connection });
      // Through the queue's group and its log.
      await broker.broker.wiring.purgeQueue(vhost, testedQueue, connection);
      return ok;
    },
  },
];

const ok = { status: 'ok' } as const;

/** As people write them. */
const aliases: Readonly<Record<string, string>> = { amqp091: 'amqp', 'amqp0.9.1': 'amqp', amqps: 'amqp/ssl' };

class Unhealthy extends HttpError {
  constructor(reason: string, fields: Record<string, unknown>) {
    super(503, 'failed', reason, {}, { status: 'failed', reason, ...fields });
  }
}

function check(name: string, judge: Handler): Resource {
  const get: Handler = (request) => {
    requireStarted(request.broker);
    return judge(request);
  };
  return { path: `/api/health/checks/${name}`, needs: ['management', 'management'], get };
}

/** @param node undefined: of all. */
function judgeAlarms({ report }: BrokerNode, node: string | undefined): object {
  const alarms = report
    .members()
    .filter(({ name }) => node === undefined || name === node)
    .flatMap(({ name, alarms: kinds = [] }) => kinds.map((resource) => ({ node: name, resource })));
  if (alarms.length === 0) return ok;
  throw new Unhealthy('resource alarm(s) in effect: publishers wait on all nodes', { alarms });
}

/** Whether others could go on with all that this node has, if it were stopped now. */
function judgeGroups({ report, options }: BrokerNode): object {
  const { node } = options;
  if (report.members().length === 1) return { ...ok, reason: 'single node cluster' };
  const groups = report
    .groups()
    .filter(({ inSync, replicas }) => inSync.length === 1 && inSync[0] === node && replicas.length > 1);
  if (groups.length === 0) return ok;
  throw new Unhealthy('There are groups of queues whose only replica in sync is here', {
    groups: groups.map(({ id }) => id),
  });
}

function ownListeners(broker: BrokerNode): ReturnType<typeof listenersOf> {
  return listenersOf(broker, broker.options.node);
}

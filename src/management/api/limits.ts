import { type LimitedKind, limitNames, type LimitName } from '../../model/access/objects.js';
import { badRequest, notFound } from '../read.js';
import { mayMonitor } from '../tags.js';
import { Done, type Resource, requireStarted } from '../resource.js';

/** What vhosts and users may have, under RabbitMQ's paths and by its names. */
export const limitRoutes: readonly Resource[] = [...limitsOf('vhost'), ...limitsOf('user')];

function limitsOf(of: LimitedKind): Resource[] {
  return [
    {
      path: `/api/${of}-limits`,
      needs: ['management', 'administrator'],
      get({ broker, sees, person }) {
        requireStarted(broker);
        const isShown = (name: string): boolean =>
          of === 'vhost' ? sees(name) : name === person.name || mayMonitor(person);
        return broker.access
          .limits(of)
          .filter(({ name }) => isShown(name))
          .map(({ name, limits }) => ({ [of]: name, value: limits }));
      },
    },
    {
      path: `/api/${of}-limits/:${of}`,
      needs: [of === 'vhost' ? 'management' : 'administrator', 'administrator'],
      isOpen: true,
      get({ broker, parameters }) {
        requireStarted(broker);
        const name = parameters[of]!;
        if ((of === 'vhost' ? broker.access.vhost(name) : broker.access.user(name)) === undefined)
          throw notFound(`${of} '${name}'`);
        return broker.access
          .limits(of)
          .filter((limits) => limits.name === name)
          .map(({ limits }) => ({ [of]: name, value: limits }));
      },
    },
    {
      path: `/api/${of}-limits/:${of}/:limit`,
      needs: ['administrator', 'administrator'],
      async put({ broker, parameters, body }) {
        requireStarted(broker);
        const { value } = body;
        if (typeof value !== 'number') throw badRequest('"value" must be a number: -1 is no limit');
        await broker.access.setLimit(of, parameters[of]!, limitName(of, parameters['limit']!), value);
        return new Done(204);
      },
      async delete({ broker, parameters }) {
        requireStarted(broker);
        await broker.access.clearLimit(of, parameters[of]!, limitName(of, parameters['limit']!));
        return new Done(204);
      },
    },
  ];
}

/** @throws HttpError 400 */
function limitName(of: LimitedKind, written: string): LimitName {
  const known: readonly LimitName[] = limitNames[of];
  const name = known.find((one) => one === written);
  if (name === undefined) throw badRequest(`'${written}' is no limit of a ${of}: there are ${known.join(', ')}`);
  return name;
}

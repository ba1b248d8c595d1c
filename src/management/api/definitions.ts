import type { BrokerNode } from '../../broker-node.js';
import { Feature } from '../../base/versions.js';
import { exportDefinitions } from '../definitions/export.js';
import { importDefinitions } from '../definitions/import.js';
import { DefinitionsReader } from '../definitions/reader.js';
import { DefinitionsError } from '../definitions/sections.js';
import { readPieces, requireJson } from '../json-body.js';
import { notFound } from '../read.js';
import { Done, type Handler, HttpError, type Resource, requireStarted, Streamed } from '../resource.js';

/** Brokers into which definitions are being read: one after the other, for each is held in memory until it is in. */
const importing = new WeakSet<BrokerNode>();

/**
 * Everything that is declared, in RabbitMQ's JSON: `GET` and `POST /api/definitions`, and of what is in one vhost
 * `/api/definitions/VHOST`.
 */
export const definitionRoutes: readonly Resource[] = ['/api/definitions', '/api/definitions/:vhost'].map((path) => ({
  path,
  needs: ['administrator', 'administrator'],
  readsItself: true,
  get: exportAll,
  post: importAll,
}));

function exportAll({ broker, parameters, pace }: Parameters<Handler>[0]): Streamed {
  const vhost = knownVhost(broker, parameters);
  const { access } = broker.tables;
  if (!access.isFounded && broker.map.config.version >= Feature.access)
    throw new HttpError(503, 'starting', 'the first users of the cluster are being made: try again');
  return new Streamed(exportDefinitions(broker, vhost, pace));
}

async function importAll({
  broker,
  parameters,
  incoming,
  security,
  pace,
  asker,
}: Parameters<Handler>[0]): Promise<Done> {
  const vhost = knownVhost(broker, parameters);
  requireJson(incoming);
  if (importing.has(broker)) throw new HttpError(503, 'busy', 'other definitions are being imported: try again later');
  importing.add(broker);
  try {
    const reader = new DefinitionsReader();
    await readPieces(incoming, (piece) => reader.read(piece), true);
    const { passwords } = security;
    const count = await importDefinitions({ broker, passwords, pace }, reader.end(), vhost);
    broker.ports.logger.info('definitions were imported', { asker, objects: count, ...(vhost && { vhost }) });
    return new Done(204);
  } catch (error) {
    if (!(error instanceof DefinitionsError)) throw error;
    const { message, isTooLarge } = error;
    // Whoever has sent them may not have waited.
    broker.ports.logger.warn('definitions were refused', { asker, reason: message });
    throw isTooLarge ? new HttpError(413, 'too_large', message) : new HttpError(400, 'bad_request', message);
  } finally {
    importing.delete(broker);
  }
}

/** Undefined: the request is for all of them. @throws HttpError 404 */
function knownVhost(broker: BrokerNode, { vhost }: Record<string, string>): string | undefined {
  requireStarted(broker);
  if (vhost !== undefined && !broker.tables.hasVhost(vhost)) throw notFound(`vhost '${vhost}'`);
  return vhost;
}

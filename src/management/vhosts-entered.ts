import { notFound } from './read.js';
import { type ResourceRequest, requireStarted } from './resource.js';

/** The vhosts that whoever asks may look into. */
export function vhostsEntered({ broker, enters }: ResourceRequest): string[] {
  requireStarted(broker);
  return [...broker.tables.vhostNames()].filter(enters);
}

/** The vhost of the path. @throws HttpError 404 */
export function requireVhost({ broker, parameters }: ResourceRequest): string {
  requireStarted(broker);
  const vhost = parameters['vhost']!;
  if (!broker.tables.hasVhost(vhost)) throw notFound(`vhost '${vhost}'`);
  return vhost;
}

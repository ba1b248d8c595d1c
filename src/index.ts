/**
 * The public API: a broker, or a whole cluster, inside a program. Everything else in the package is internal.
 *
 *   import { Broker, Cluster } from 'understudy-mq';
 */
export type { LogFields, Logger } from './base/logger.js';
export type { Endpoint } from './config/endpoint.js';
export { Broker, type EmbeddedBrokerOptions } from './embed/broker.js';
export { Cluster, type EmbeddedClusterOptions } from './embed/cluster.js';
export type { CommonOptions } from './embed/options.js';
export { version } from './version.js';

/** What is agreed when a connection opens (§2.2.4): server properties, and the numbers of tune and tune-ok. */
import type { Arguments } from '../model/broker.js';
import {
  ConnectionStart,
  ConnectionTune,
  type ConnectionTuneOk,
  Frame,
  ProtocolError,
  ReplyCode,
} from './codec/index.js';
import type { Limits } from './limits.js';
import type { Product } from './product.js';

/** What a connection works with; 0 = no limit, no heartbeats. */
export interface Tuning {
  channelMax: number;
  frameMax: number;
  heartbeatSeconds: number;
}

/** The server properties with the cluster's addresses, and with the version of this program. */
const addressesProperty = 'understudy.addresses';
const versionProperty = 'understudy.version';

/** Extensions as RabbitMQ names them: clients look here before they use one. */
const capabilities: Arguments = {
  publisher_confirms: true,
  exchange_exchange_bindings: true,
  'basic.nack': true,
  consumer_cancel_notify: true,
  'connection.blocked': true,
  consumer_priorities: true,
  authentication_failure_close: true,
  per_consumer_qos: true,
  direct_reply_to: true,
};

/** More would not fit into the frame, which is small before tune-ok. */
const addressesMax = 64;
const addressBytesMax = 2048;

/**
 * @param mechanisms of SASL, by name.
 * @param addresses of the cluster's nodes, HOST:PORT, in the order in which a client should try them.
 */
export function startMethod(
  product: Product,
  mechanisms: readonly string[],
  addresses: readonly string[],
): ConnectionStart {
  const properties: Arguments = {
    capabilities,
    cluster_name: product.clusterName,
    copyright: 'The Understudy authors',
    information: 'Licensed under Apache-2.0',
    [addressesProperty]: fitting(addresses),
    platform: `Node.js ${process.version}`,
    product: product.name,
    [versionProperty]: product.ownVersion,
    version: product.version,
  };
  return new ConnectionStart(0, 9, properties, mechanisms.join(' '), 'en_US');
}

function fitting(addresses: readonly string[]): string[] {
  let bytes = 0;
  return addresses.slice(0, addressesMax).filter((address) => {
    bytes += address.length;
    return bytes <= addressBytesMax;
  });
}

export function tuneMethod(limits: Limits): ConnectionTune {
  return new ConnectionTune(limits.channelMax, limits.frameMax, limits.heartbeatSeconds);
}

/**
 * What a tune-ok settles. The client may lower what was offered; 0 leaves it to us. Heartbeats are the client's choice.
 * Throws ProtocolError 530.
 */
export function negotiate(tuneOk: ConnectionTuneOk, limits: Limits): Tuning {
  return {
    channelMax: settled('channel_max', tuneOk.channelMax, limits.channelMax, 1),
    frameMax: settled('frame_max', tuneOk.frameMax, limits.frameMax, Frame.minSize),
    heartbeatSeconds: tuneOk.heartbeat,
  };
}

function settled(name: string, wanted: number, offered: number, least: number): number {
  if (wanted === 0) return offered;
  if (wanted < least) throw refused(name, wanted, `lower than the minimum allowed value (${least})`);
  if (offered !== 0 && wanted > offered)
    throw refused(name, wanted, `higher than the maximum allowed value (${offered})`);
  return wanted;
}

function refused(name: string, wanted: number, what: string): ProtocolError {
  return new ProtocolError(ReplyCode.notAllowed, `negotiated ${name} = ${wanted} is ${what}`);
}

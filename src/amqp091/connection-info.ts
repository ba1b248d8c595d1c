import type { Socket } from 'node:net';
import type { Arguments, ConnectionId } from '../model/broker.js';
import type { Opening } from './opening.js';

/** A connection as the management shows it. */
export interface ConnectionInfo {
  id: ConnectionId;
  /** `peer:port -> host:port` */
  name: string;
  peerHost: string;
  peerPort: number;
  host: string;
  port: number;
  /** '' until authenticated. */
  user: string;
  /** '' until opened. */
  vhost: string;
  mechanism: string;
  /** Version of TLS, such as TLSv1.3; '' = in the clear. */
  tls: string;
  clientProperties: Arguments;
  /** As RabbitMQ names them: starting, securing, tuning, opening, running, blocked, closing, closed. */
  state: string;
  channels: number;
  channelMax: number;
  frameMax: number;
  heartbeatSeconds: number;
  /** Wall-clock ms since 1970. */
  connectedAt: number;
  bytesIn: number;
  /** Output that the client has not taken. */
  pendingBytes: number;
}

/** What socket and opening tell of a connection; `own` has the rest. */
export function connectionInfo(
  socket: Socket,
  opening: Opening,
  own: Pick<ConnectionInfo, 'id' | 'name' | 'state' | 'tls' | 'channels' | 'connectedAt' | 'bytesIn' | 'pendingBytes'>,
): ConnectionInfo {
  const { user, vhost, mechanism, clientProperties, tuning } = opening;
  return {
    ...own,
    ...tuning,
    peerHost: socket.remoteAddress ?? '',
    peerPort: socket.remotePort ?? 0,
    host: socket.localAddress ?? '',
    port: socket.localPort ?? 0,
    user,
    vhost,
    mechanism,
    clientProperties,
  };
}

import type { Arguments, ConnectionId } from '../model/broker.js';

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

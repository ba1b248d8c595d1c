/** Everything of the AMQP 0-9-1 server that could grow, and how far it may. */
export interface Limits {
  /** Open connections; more are refused with a closed socket. */
  connectionsMax: number;
  /** Channels and consumers of all connections. */
  allChannelsMax: number;
  allConsumersMax: number;
  /** Connections whose handshake is not finished; one more and the oldest of them is dropped. */
  handshakesMax: number;
  /** From the accepted socket to connection.open, ms. */
  handshakeTimeoutMs: number;
  /** A client waits for it to be known who is primary, ms; then it is refused. */
  admissionWaitMs: number;
  /** From connection.close to close-ok and the socket's end, ms. */
  closeTimeoutMs: number;
  /** Offered to clients, which may ask for less: bytes of a frame, channels of a connection, seconds (0 = none). */
  frameMax: number;
  channelMax: number;
  heartbeatSeconds: number;
  /** Bytes of a message's body. */
  messageBytesMax: number;
  /** The same where the message cannot be sent on as it comes: to be returned, to a waiting client. */
  gatheredBytesMax: number;
  /** Large messages that a connection sends at a time, on as many channels; and all together. */
  uploadsMax: number;
  allUploadsMax: number;
  /** Bytes of bodies in several frames that a connection's channels have received in part. */
  partialBytesMax: number;
  /** The same for all connections together; above it the one that holds the most is closed. */
  allPartialBytesMax: number;
  /** Bytes of a channel's frames that wait behind a method which waits for the broker; above it the socket is not read. */
  backlogBytesMax: number;
  /** The same for all channels of a connection. */
  allBacklogBytesMax: number;
  /** Input of all connections that is handled in one turn of the event loop; more waits for the next ones. */
  turnInputBytesMax: number;
  /** Publishes of a channel that wait for their confirm; above it the socket is not read. */
  unconfirmedMax: number;
  /** Deliveries of a channel that its client holds; no further ones above it. */
  unackedMax: number;
  /** Deliveries that the broker may make ahead, of consumers without prefetch or acknowledgements. */
  creditWindow: number;
  /** Bytes of output waiting for the client. Above it no credit is given; above `outputStallFactor` times it nothing is read. */
  outputBytesMax: number;
  /** Publishes and settlements of a transaction, and bytes that they take: they are sent off, and written into the log, in one turn. */
  transactionSizeMax: number;
  transactionBytesMax: number;
  /** Consumers of a channel. */
  consumersMax: number;
  /**
   * From the turn's first input to the writing of what it delivers, ms: less than what is left of a lease under which something
   * is delivered. Only a process that stood still takes longer; others may have been given its messages meanwhile.
   */
  deliverWithinMs: number;
}

export const defaultLimits: Limits = {
  connectionsMax: 65_536,
  allChannelsMax: 131_072,
  allConsumersMax: 131_072,
  handshakesMax: 2_048,
  handshakeTimeoutMs: 10_000,
  admissionWaitMs: 5_000,
  closeTimeoutMs: 10_000,
  frameMax: 131_072,
  channelMax: 2_047,
  heartbeatSeconds: 60,
  messageBytesMax: 512 * 1024 * 1024,
  gatheredBytesMax: 128 * 1024 * 1024,
  uploadsMax: 64,
  allUploadsMax: 1024,
  partialBytesMax: 256 * 1024 * 1024,
  allPartialBytesMax: 512 * 1024 * 1024,
  backlogBytesMax: 256 * 1024,
  allBacklogBytesMax: 2 * 1024 * 1024,
  turnInputBytesMax: 512 * 1024,
  unconfirmedMax: 262_144,
  unackedMax: 1_048_576,
  creditWindow: 1_000,
  outputBytesMax: 1024 * 1024,
  transactionSizeMax: 8_192,
  transactionBytesMax: 16 * 1024 * 1024,
  consumersMax: 10_000,
  deliverWithinMs: Number.POSITIVE_INFINITY,
};

/** Files that are no client's socket: segments, links, HTTP. */
const otherFiles = 512;

/**
 * What a process that may have `openFiles` files and sockets open can offer: clients must not take those that the journal needs,
 * nor unfinished handshakes those of clients. Infinity: the defaults.
 */
export function limitsForOpenFiles(openFiles: number): Pick<Limits, 'connectionsMax' | 'handshakesMax'> {
  const forClients = Math.floor(Math.max(openFiles - otherFiles, openFiles / 2));
  const connectionsMax = Math.min(defaultLimits.connectionsMax, forClients);
  return { connectionsMax, handshakesMax: Math.min(defaultLimits.handshakesMax, Math.ceil(connectionsMax / 4)) };
}

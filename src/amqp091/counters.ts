/** What a server has done since it started; read by the management. Plain numbers, counted where it happens. */
export class Counters {
  connectionsOpened = 0;
  connectionsClosed = 0;
  /** Sockets closed before a protocol was spoken: too many, too slow. */
  connectionsRefused = 0;
  authenticationFailures = 0;
  /** Clients that were told where the primary is instead of being served, at once or when this node ceased to be it. */
  connectionsRedirected = 0;
  channelsOpened = 0;
  channelsClosed = 0;
  /** That there are now. */
  consumers = 0;
  published = 0;
  confirmed = 0;
  returned = 0;
  delivered = 0;
  /** Settled by clients: ack, reject and nack. */
  acknowledged = 0;
  requeued = 0;
  /** Deliveries that went back because the client could not take them yet. */
  heldBack = 0;
  got = 0;
  channelErrors = 0;
  connectionErrors = 0;
  bytesIn = 0;
  bytesOut = 0;
}

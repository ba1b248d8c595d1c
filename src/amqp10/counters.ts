/** What the server has done since it started. Plain numbers, counted where it happens. */
export class Counters {
  connectionsOpened = 0;
  connectionsClosed = 0;
  connectionsRefused = 0;
  connectionsRedirected = 0;
  authenticationFailures = 0;
  /** That there are now. */
  sessions = 0;
  links = 0;
  published = 0;
  /** Publishes whose outcome was told. */
  settled = 0;
  delivered = 0;
  acknowledged = 0;
  requeued = 0;
  /** Deliveries that went back because the client could not take them yet. */
  heldBack = 0;
  /** Declares and discharges that were refused. */
  transactionsFailed = 0;
  linkErrors = 0;
  sessionErrors = 0;
  connectionErrors = 0;
  bytesIn = 0;
  bytesOut = 0;
}

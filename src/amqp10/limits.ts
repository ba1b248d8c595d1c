/** Everything of the AMQP 1.0 server that could grow, and how far it may. */
import type { OutputLimits } from '../socket/output.js';

export interface Limits extends OutputLimits {
  /** Connections whose handshake is not finished; one more and the oldest of them is dropped. */
  handshakesMax: number;
  /** From the protocol header to open, ms. */
  handshakeTimeoutMs: number;
  /** A client waits for it to be known who is primary, ms; then it is refused. */
  admissionWaitMs: number;
  /** From our close to the client's and the socket's end, ms. */
  closeTimeoutMs: number;
  /** Bytes of a frame that we take. */
  frameMax: number;
  /** The highest number of a channel: sessions of a connection, but one. */
  channelMax: number;
  /** The highest handle: links of a session, but one. */
  handleMax: number;
  /** Sessions and links of all connections. */
  allSessionsMax: number;
  allLinksMax: number;
  /** A client that sends nothing for so long is given up, ms; it is told half of it (§2.4.5). */
  idleTimeoutMs: number;
  /** Bytes of a message. */
  messageBytesMax: number;
  /** Bytes of messages in several frames that a connection's links have received in part. */
  partialBytesMax: number;
  /** The same for all connections together; above it the one that holds the most is closed. */
  allPartialBytesMax: number;
  /** Transfer frames that a client may send ahead in a session. */
  incomingWindow: number;
  /** Messages that a client may send ahead on a link, and that wait for their outcome. */
  linkCredit: number;
  /** Bytes that a client may send after publishers were stopped; above it the socket is not read. */
  gatedBytesMax: number;
  /** Transactions of a connection that are not discharged. */
  transactionsMax: number;
  /** Publishes and settlements of a transaction, and bytes that they take: they are sent off, and written into the log, in one turn. */
  transactionSizeMax: number;
  transactionBytesMax: number;
  /** Deliveries of a session that its client holds unsettled. */
  unsettledMax: number;
  /** Deliveries that the broker may make ahead on a link. */
  creditWindow: number;
}

export const defaultLimits: Limits = {
  handshakesMax: 2_048,
  handshakeTimeoutMs: 10_000,
  admissionWaitMs: 5_000,
  closeTimeoutMs: 10_000,
  frameMax: 131_072,
  channelMax: 255,
  handleMax: 1_023,
  allSessionsMax: 131_072,
  allLinksMax: 131_072,
  idleTimeoutMs: 60_000,
  messageBytesMax: 128 * 1024 * 1024,
  partialBytesMax: 256 * 1024 * 1024,
  allPartialBytesMax: 512 * 1024 * 1024,
  incomingWindow: 8_192,
  linkCredit: 1_000,
  gatedBytesMax: 1024 * 1024,
  transactionsMax: 64,
  transactionSizeMax: 8_192,
  transactionBytesMax: 16 * 1024 * 1024,
  unsettledMax: 1_048_576,
  creditWindow: 1_000,
  outputBytesMax: 1024 * 1024,
  deliverWithinMs: Number.POSITIVE_INFINITY,
};

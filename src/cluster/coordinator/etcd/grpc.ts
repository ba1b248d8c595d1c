/**
 * gRPC over HTTP/2 (PROTOCOL-HTTP2.md of the gRPC project), as far as etcd needs it: calls with one answer, and one stream of
 * answers. docs/adr/0004-etcd-client.md says why there is no library here.
 *
 *   request: HEADERS (POST, path, metadata), DATA       answer: HEADERS, DATA, HEADERS (grpc-status, grpc-message)
 *   DATA, a message: compressed? (1 byte, 0), length (4 bytes), that many bytes
 */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2';
import type { Clock } from '../../../base/clock.js';

const prefixBytes = 5;
/** Largest answer; a cluster's map has a few dozen KiB. */
const answerBytesMax = 16 * 1024 * 1024;

/** gRPC's status codes, those that matter here. */
export const Status = {
  ok: 0,
  invalidArgument: 3,
  deadlineExceeded: 4,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** A call that failed. */
export class GrpcError extends Error {
  override readonly name = 'GrpcError';
  /** As the server said, or what comes nearest. */
  readonly code: number;
  /** False: the server has certainly not begun to work on it. */
  readonly sent: boolean;

  constructor(code: number, message: string, sent: boolean) {
    super(message);
    this.code = code;
    this.sent = sent;
  }
}

/** PEM texts. `ca`: undefined for the authorities that the system trusts. */
export interface TlsOptions {
  ca: string | undefined;
  certificate: string | undefined;
  key: string | undefined;
}

/** What a call brings: its messages as they come (if one makes no sense: throws), then its end, once; undefined: as it should. */
interface Receiver {
  message(bytes: Buffer): void;
  ended(failure: GrpcError | undefined): void;
}

/** A connection to one server. It never connects again. */
export class GrpcSession {
  private readonly session: ClientHttp2Session;
  private readonly clock: Clock;
  private failure = '';

  private constructor(session: ClientHttp2Session, clock: Clock) {
    this.session = session;
    this.clock = clock;
    session.on('error', (error) => {
      this.failure = error.message;
    });
    // Calls that it has begun are answered; new ones are for another connection.
    session.on('goaway', () => session.close());
  }

  /** @param address HOST:PORT. Rejects with a GrpcError. */
  static connect(address: string, tls: TlsOptions | null, clock: Clock, timeoutMs: number): Promise<GrpcSession> {
    const session = tls
      ? connect(`https://${address}`, { ca: tls.ca, cert: tls.certificate, key: tls.key })
      : connect(`http://${address}`);
    return new Promise((resolve, reject) => {
      const failed = (error: Error & { code?: string }): void => {
        timer.cancel();
        session.destroy();
        reject(new GrpcError(Status.unavailable, error.message || String(error.code), false));
      };
      const timer = clock.after(timeoutMs, () => failed(new Error(`no connection within ${timeoutMs} ms`)));
      session.on('error', failed);
      session.once('connect', () => {
        timer.cancel();
        session.off('error', failed);
        resolve(new GrpcSession(session, clock));
      });
    });
  }

  get isOpen(): boolean {
    return !this.session.closed && !this.session.destroyed;
  }

  /** One message for one message. Rejects with a GrpcError. */
  unary(path: string, message: Buffer, metadata: Record<string, string>, timeoutMs: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      let answer: Buffer | undefined;
      const headers = { ...metadata, 'grpc-timeout': `${timeoutMs}m` };
      const stream = this.begin(path, headers, {
        message: (bytes) => {
          answer = bytes;
        },
        ended: (failure) => {
          timer.cancel();
          if (failure !== undefined) reject(failure);
          else if (answer === undefined) reject(new GrpcError(Status.internal, 'an answer without a message', true));
          else resolve(answer);
        },
      });
      const timer = this.clock.after(timeoutMs, () => {
        reject(new GrpcError(Status.deadlineExceeded, `no answer within ${timeoutMs} ms`, true));
        stream?.close(constants.NGHTTP2_CANCEL);
      });
      stream?.end(frameOf(message));
    });
  }

  /** One message, then whatever comes, until it ends: by the server, by the loss of the connection, or closed here. */
  stream(path: string, message: Buffer, metadata: Record<string, string>, receiver: Receiver): { close(): void } {
    const stream = this.begin(path, metadata, receiver);
    stream?.write(frameOf(message));
    return { close: () => stream?.close(constants.NGHTTP2_CANCEL) };
  }

  /** Ends all calls. */
  close(): void {
    this.session.destroy();
  }

  private begin(path: string, metadata: Record<string, string>, receiver: Receiver): ClientHttp2Stream | undefined {
    if (!this.isOpen) {
      queueMicrotask(() => receiver.ended(new GrpcError(Status.unavailable, this.failure || 'not connected', false)));
      return undefined;
    }
    const stream = this.session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...metadata,
    });
    const messages = new MessageReader(receiver);
    let status: GrpcError | undefined | null = null;
    const read = (headers: IncomingHttpHeaders): void => {
      status = statusOf(headers) ?? status;
      if (headers['grpc-status'] === '0') status = undefined;
    };
    stream.on('response', read);
    stream.on('trailers', read);
    stream.on('data', (bytes: Buffer) => {
      if (!messages.read(bytes)) stream.close(constants.NGHTTP2_CANCEL);
    });
    let reason = '';
    stream.on('error', (error) => {
      reason = error.message;
    });
    stream.once('close', () =>
      receiver.ended(status === null ? this.lost(stream, messages.failure || reason) : status),
    );
    return stream;
  }

  /** Of a call that ended without a status. */
  private lost(stream: ClientHttp2Stream, reason: string): GrpcError {
    const sent = stream.rstCode !== constants.NGHTTP2_REFUSED_STREAM;
    return new GrpcError(Status.unavailable, reason || this.failure || 'the connection was lost', sent);
  }
}

/** What headers or trailers say of a call that failed; undefined if nothing. */
function statusOf(headers: IncomingHttpHeaders): GrpcError | undefined {
  const code = headers['grpc-status'];
  if (typeof code === 'string' && code !== '0')
    return new GrpcError(Number(code), unescaped(String(headers['grpc-message'] ?? '')), true);
  const http = headers[':status'] as unknown;
  if (http !== undefined && Number(http) !== 200)
    return new GrpcError(
      Status.unavailable,
      `HTTP status ${String(http)}: this is no etcd, or something is in between`,
      true,
    );
  return undefined;
}

/** Of a text with %XX in it; as it is, if those are wrong. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function frameOf(message: Buffer): Buffer {
  const frame = Buffer.alloc(prefixBytes + message.length);
  frame.writeUInt32BE(message.length, 1);
  message.copy(frame, prefixBytes);
  return frame;
}

/** Finds messages in bytes, however they are split. */
class MessageReader {
  /** Why reading ended early; '' if it did not. */
  failure = '';
  private readonly receiver: Receiver;
  private rest: Buffer = Buffer.alloc(0);

  constructor(receiver: Receiver) {
    this.receiver = receiver;
  }

  /** False: the stream makes no sense, see `failure`. */
  read(bytes: Buffer): boolean {
    this.rest = this.rest.length === 0 ? bytes : Buffer.concat([this.rest, bytes]);
    while (this.rest.length >= prefixBytes) {
      const length = this.rest.readUInt32BE(1);
      if (this.rest[0] !== 0) this.failure = 'an answer is compressed, which was not asked for';
      if (length > answerBytesMax) this.failure = `an answer has ${length} bytes, more than ${answerBytesMax}`;
      if (this.failure !== '') return false;
      if (this.rest.length < prefixBytes + length) break;
      const message = this.rest.subarray(prefixBytes, prefixBytes + length);
      this.rest = this.rest.subarray(prefixBytes + length);
      try {
        this.receiver.message(message);
      } catch (error) {
        this.failure = String(error);
        return false;
      }
    }
    return true;
  }
}

/**
 * What a client is told when a request fails (AMQP 0-9-1 §1.2 "reply codes"). A channel error ends the channel, a
 * connection error the connection; never more than that.
 */
import { Refusal, RefusedError } from '../base/errors.js';

export const ReplyCode = {
  success: 200,
  contentTooLarge: 311,
  noRoute: 312,
  noConsumers: 313,
  connectionForced: 320,
  invalidPath: 402,
  accessRefused: 403,
  notFound: 404,
  resourceLocked: 405,
  preconditionFailed: 406,
  frameError: 501,
  syntaxError: 502,
  commandInvalid: 503,
  channelError: 504,
  unexpectedFrame: 505,
  resourceError: 506,
  notAllowed: 530,
  notImplemented: 540,
  internalError: 541,
} as const;
export type ReplyCode = (typeof ReplyCode)[keyof typeof ReplyCode];

const names: Readonly<Record<number, string>> = {
  200: 'OK',
  311: 'CONTENT_TOO_LARGE',
  312: 'NO_ROUTE',
  313: 'NO_CONSUMERS',
  320: 'CONNECTION_FORCED',
  402: 'INVALID_PATH',
  403: 'ACCESS_REFUSED',
  404: 'NOT_FOUND',
  405: 'RESOURCE_LOCKED',
  406: 'PRECONDITION_FAILED',
  501: 'FRAME_ERROR',
  502: 'SYNTAX_ERROR',
  503: 'COMMAND_INVALID',
  504: 'CHANNEL_ERROR',
  505: 'UNEXPECTED_FRAME',
  506: 'RESOURCE_ERROR',
  530: 'NOT_ALLOWED',
  540: 'NOT_IMPLEMENTED',
  541: 'INTERNAL_ERROR',
};

/** The codes that end a channel only; all others end the connection. */
const softCodes: ReadonlySet<number> = new Set([311, 313, 403, 404, 405, 406]);

/** The longest reply text a shortstr holds, in bytes. */
const replyTextBytesMax = 255;

/** A request that ends its channel or its connection. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
  readonly code: number;
  /** True: it ends the connection. */
  readonly hard: boolean;

  /** @param text without the code's name, which is put in front of it. */
  constructor(code: number, text: string) {
    super(shortened(`${names[code] ?? 'ERROR'} - ${text}`));
    this.code = code;
    this.hard = !softCodes.has(code);
  }
}

/** Cuts a text to what fits a shortstr, at a character's edge. */
function shortened(text: string): string {
  if (text.length * 3 <= replyTextBytesMax || Buffer.byteLength(text) <= replyTextBytesMax) return text;
  const bytes = Buffer.from(text);
  let end = replyTextBytesMax;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}

const codeOfRefusal: Readonly<Record<Refusal, ReplyCode>> = {
  [Refusal.accessRefused]: ReplyCode.accessRefused,
  [Refusal.notFound]: ReplyCode.notFound,
  [Refusal.resourceLocked]: ReplyCode.resourceLocked,
  [Refusal.preconditionFailed]: ReplyCode.preconditionFailed,
  [Refusal.resourceError]: ReplyCode.resourceError,
  [Refusal.notAllowed]: ReplyCode.notAllowed,
  [Refusal.notImplemented]: ReplyCode.notImplemented,
  [Refusal.internalError]: ReplyCode.internalError,
};

/** What any failure of the broker or of the codec is to a client. */
export function toProtocolError(error: unknown): ProtocolError {
  if (error instanceof ProtocolError) return error;
  if (error instanceof RefusedError) return new ProtocolError(codeOfRefusal[error.kind], error.message);
  return new ProtocolError(ReplyCode.internalError, 'the broker failed to do this; its log says why');
}

// Generated from tools/codegen/amqp091.json by tools/codegen/main.ts. Do not edit.

/** Why a channel or connection is closed, or a message returned. */
export const ReplyCode = {
  replySuccess: 200,
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

/** True: the error ends the connection (hard). False: it ends the channel (soft), or is none. */
export function isHardError(code: number): boolean {
  switch (code) {
    case ReplyCode.connectionForced:
    case ReplyCode.invalidPath:
    case ReplyCode.frameError:
    case ReplyCode.syntaxError:
    case ReplyCode.commandInvalid:
    case ReplyCode.channelError:
    case ReplyCode.unexpectedFrame:
    case ReplyCode.resourceError:
    case ReplyCode.notAllowed:
    case ReplyCode.notImplemented:
    case ReplyCode.internalError:
      return true;
    default:
      return false;
  }
}

const names: ReadonlyMap<number, string> = new Map<number, string>([
  [ReplyCode.replySuccess, 'REPLY_SUCCESS'],
  [ReplyCode.contentTooLarge, 'CONTENT_TOO_LARGE'],
  [ReplyCode.noRoute, 'NO_ROUTE'],
  [ReplyCode.noConsumers, 'NO_CONSUMERS'],
  [ReplyCode.connectionForced, 'CONNECTION_FORCED'],
  [ReplyCode.invalidPath, 'INVALID_PATH'],
  [ReplyCode.accessRefused, 'ACCESS_REFUSED'],
  [ReplyCode.notFound, 'NOT_FOUND'],
  [ReplyCode.resourceLocked, 'RESOURCE_LOCKED'],
  [ReplyCode.preconditionFailed, 'PRECONDITION_FAILED'],
  [ReplyCode.frameError, 'FRAME_ERROR'],
  [ReplyCode.syntaxError, 'SYNTAX_ERROR'],
  [ReplyCode.commandInvalid, 'COMMAND_INVALID'],
  [ReplyCode.channelError, 'CHANNEL_ERROR'],
  [ReplyCode.unexpectedFrame, 'UNEXPECTED_FRAME'],
  [ReplyCode.resourceError, 'RESOURCE_ERROR'],
  [ReplyCode.notAllowed, 'NOT_ALLOWED'],
  [ReplyCode.notImplemented, 'NOT_IMPLEMENTED'],
  [ReplyCode.internalError, 'INTERNAL_ERROR'],
]);

/** `NOT_FOUND`; a code that does not exist as its number. */
export function replyCodeName(code: number): string {
  return names.get(code) ?? String(code);
}

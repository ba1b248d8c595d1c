// Generated from tools/codegen/amqp10/definition.json by tools/codegen/main.ts. Do not edit.

/** Why something failed (§2.8.15 to §2.8.18, §4.5.8). */
export const Condition = {
  internalError: 'amqp:internal-error',
  notFound: 'amqp:not-found',
  unauthorizedAccess: 'amqp:unauthorized-access',
  decodeError: 'amqp:decode-error',
  resourceLimitExceeded: 'amqp:resource-limit-exceeded',
  notAllowed: 'amqp:not-allowed',
  invalidField: 'amqp:invalid-field',
  notImplemented: 'amqp:not-implemented',
  resourceLocked: 'amqp:resource-locked',
  preconditionFailed: 'amqp:precondition-failed',
  resourceDeleted: 'amqp:resource-deleted',
  illegalState: 'amqp:illegal-state',
  frameSizeTooSmall: 'amqp:frame-size-too-small',
  connectionForced: 'amqp:connection:forced',
  connectionFramingError: 'amqp:connection:framing-error',
  connectionRedirect: 'amqp:connection:redirect',
  sessionWindowViolation: 'amqp:session:window-violation',
  sessionErrantLink: 'amqp:session:errant-link',
  sessionHandleInUse: 'amqp:session:handle-in-use',
  sessionUnattachedHandle: 'amqp:session:unattached-handle',
  linkDetachForced: 'amqp:link:detach-forced',
  linkTransferLimitExceeded: 'amqp:link:transfer-limit-exceeded',
  linkMessageSizeExceeded: 'amqp:link:message-size-exceeded',
  linkRedirect: 'amqp:link:redirect',
  linkStolen: 'amqp:link:stolen',
  transactionUnknownId: 'amqp:transaction:unknown-id',
  transactionRollback: 'amqp:transaction:rollback',
  transactionTimeout: 'amqp:transaction:timeout',
} as const;
export type Condition = (typeof Condition)[keyof typeof Condition];

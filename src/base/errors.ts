/**
 * What went wrong, as a client can see it. The protocol layer maps the kind to its own code
 * (AMQP 0-9-1 reply codes in comments). The text says what was asked, what stands against it and what to do.
 */
export const Refusal = {
  accessRefused: 'access-refused', // 403
  notFound: 'not-found', // 404
  resourceLocked: 'resource-locked', // 405
  preconditionFailed: 'precondition-failed', // 406
  resourceError: 'resource-error', // 506
  notAllowed: 'not-allowed', // 530
  notImplemented: 'not-implemented', // 540
  internalError: 'internal-error', // 541
} as const;
export type Refusal = (typeof Refusal)[keyof typeof Refusal];

/** A request that the broker refuses. Never fatal to the broker; the protocol decides what it ends. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly kind: Refusal;

  constructor(kind: Refusal, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** For the log: where a fault of the broker comes from. */
export function describeFault(error: unknown): string {
  return error instanceof Error && error.stack ? error.stack : String(error);
}

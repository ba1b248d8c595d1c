/** A connected, ordered, reliable byte stream between two nodes. Production: TCP; simulator: simulated. */
export interface ByteStream {
  /**
   * True if more may follow at once, false to wait for `onDrain`. The bytes must not be changed before `pendingBytes` is 0:
   * a stream may keep what it could not hand to the network at once.
   */
  write(bytes: Uint8Array): boolean;
  /** Bytes written and not yet handed to the network. */
  readonly pendingBytes: number;
  /** Where the other end is, HOST:PORT, for people to read. */
  readonly remote: string;
  close(): void;
  /** The bytes are valid during the call only. */
  onData: (bytes: Uint8Array) => void;
  onDrain: () => void;
  /** Called once, however it ended. */
  onClose: (error?: Error) => void;
}

/** `refused`: the host answered that nothing listens there (strong evidence of death, rule 11). */
export type DialFailure = 'refused' | 'unreachable';

export interface Transport {
  listen(address: string, accepted: (stream: ByteStream) => void): Promise<{ address: string; close(): Promise<void> }>;
  /** Resolves to a stream, or rejects with a DialError. */
  dial(address: string, timeoutMs: number): Promise<ByteStream>;
}

export class DialError extends Error {
  override readonly name = 'DialError';
  readonly failure: DialFailure;

  constructor(failure: DialFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}

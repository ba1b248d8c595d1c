/** Bytes that do not say what they must: too few, too many, or of a kind that does not exist. The message says what and where. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}

/** A value that has no encoding: a short string over 255 bytes, an integer out of range. The caller's mistake, not the peer's. */
export class EncodeError extends Error {
  override readonly name = 'EncodeError';
}

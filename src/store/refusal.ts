/** A folder that must not be used by this program; the text says why and what to do. */
export class StoreRefusedError extends Error {
  override readonly name = 'StoreRefusedError';
}

/** @param what has it */
export function tooNew(what: string, version: number, versionMax: number): StoreRefusedError {
  return new StoreRefusedError(
    `${what} is of protocol version ${version}, this node reads up to ${versionMax}: ` +
      'start it with the program that wrote it or a newer one, and without the setting `protocol`',
  );
}

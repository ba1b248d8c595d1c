/** A selector that cannot be used: what is wrong, and where. */
export class SelectorError extends Error {
  constructor(what: string, at: number) {
    super(`the selector cannot be used: ${what}, at character ${at + 1}`);
  }
}

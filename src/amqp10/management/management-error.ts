/** What stands against a request: the answer's status and its text. */
export class ManagementError extends Error {
  readonly status: string;
  constructor(status: string, message: string) {
    super(message);
    this.status = status;
  }
}

export function badRequest(text: string): ManagementError {
  return new ManagementError('400', text);
}

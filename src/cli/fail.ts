/** Ends a command: one line on standard error, and an exit code. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: number;

  constructor(message: string, exitCode: number = ExitCode.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

export const ExitCode = { failed: 1, usage: 2 } as const;

/** Whatever went wrong, in one line that says what to do where we know it. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, address, port } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  const where = port === undefined ? '' : `${address}:${port}`;
  if (code === 'EADDRINUSE') return `${where} is taken: another process listens there`;
  if (code === 'ENOTFOUND') return `${(error as { hostname?: string }).hostname} is no host that is known here`;
  if (code === 'ECONNREFUSED') return `nothing listens at ${where}`;
  if (code === 'EADDRNOTAVAIL') return `${where} is no address of this machine`;
  if (code === 'EACCES' && where !== '') return `${where} may not be listened on by this user`;
  return error.message.split('\n', 1)[0]!;
}

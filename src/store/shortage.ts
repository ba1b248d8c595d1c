/** Errors of disk calls that pass by themselves and leave the disk as it was: something is used up for now. */

/** The call found no space. */
export function isNoSpace(error: unknown): boolean {
  return codeOf(error) === 'ENOSPC';
}

/** This process, or the whole machine, has too many files open. */
export function isOutOfFiles(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'EMFILE' || code === 'ENFILE';
}

/** What is short, and what it means, in words; '' for an error of another kind. */
export function shortageOf(error: unknown): string {
  const { message } = error as Error;
  if (isNoSpace(error)) return `the disk is full (${message}): publishing pauses until there is space`;
  if (isOutOfFiles(error))
    return `no more files can be opened (${message}): publishing pauses until they can; the limit of open files is too low`;
  return '';
}

function codeOf(error: unknown): string | undefined {
  return (error as { code?: string }).code;
}

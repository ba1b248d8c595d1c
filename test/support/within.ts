/** Every wait of a test has an end, and says what it waited for. */

/** What `promise` comes to; rejects if that takes longer than `timeoutMs`. `what`: for the text, as in "... did not happen". */
export async function within<T>(timeoutMs: number, what: string | (() => string), promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`not within ${timeoutMs} ms: ${typeof what === 'string' ? what : what()}`));
    }, timeoutMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

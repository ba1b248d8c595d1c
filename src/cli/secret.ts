/** A password from whoever runs the command: not from the command line, which others of the machine can read. */
import { createInterface } from 'node:readline';
import { CommandError, ExitCode } from './fail.js';

const bytesMax = 4096;

/** Asks twice at a terminal, without showing what is typed; else reads one line from standard input. Throws CommandError. */
export async function readPassword(user: string): Promise<string> {
  const { stdin } = process;
  if (!stdin.isTTY) return checked(await readLine());
  const first = await ask(`Password of ${user}: `);
  if ((await ask('Once more: ')) !== first) throw new CommandError('the two are not the same', ExitCode.usage);
  return checked(first);
}

function checked(password: string): string {
  if (password === '') throw new CommandError('the password is empty; it is read from standard input', ExitCode.usage);
  return password;
}

async function readLine(): Promise<string> {
  let text = '';
  for await (const part of process.stdin) {
    text += String(part);
    if (text.length > bytesMax) throw new CommandError(`the password is longer than ${bytesMax} bytes`, ExitCode.usage);
  }
  return text.replace(/\r?\n$/, '');
}

function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, terminal: true });
  process.stderr.write(question);
  return new Promise((resolve, reject) => {
    lines.once('line', (line) => {
      process.stderr.write('\n');
      resolve(line);
      lines.close();
    });
    lines.once('SIGINT', () => {
      lines.close();
      reject(new CommandError('interrupted'));
    });
  });
}

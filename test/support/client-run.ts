/** A program of test/clients through a failover: nothing that was confirmed may be lost, and what comes twice comes flagged or was sent twice. */
import assert from 'node:assert/strict';
import { ExampleProgram } from './example-program.js';

export interface Client {
  name: string;
  /** Of tools/test/clients.mjs. */
  interpreter: string;
  file: string;
  /** What runs it, in the interpreter's folder; default: run. */
  script?: string;
  /** It sends again by itself, without a word. */
  resends?: boolean;
}

const count = 400;
/** Whatever a client makes of it. */
const doneMsMax = 120_000;

export function startClient(client: Client, urls: readonly string[], queue: string): ExampleProgram {
  return ExampleProgram.client(client.interpreter, client.file, urls, [queue, String(count)], client.script);
}

/** Runs it to its end; `failover` when a third has come. */
export async function runThrough(
  client: Client,
  program: ExampleProgram,
  failover: () => Promise<void>,
): Promise<void> {
  const got = (): RegExpExecArray[] => program.matches(/^got (\d+)( redelivered)?$/);
  await program.until('a third has come', () => got().length > count / 3, doneMsMax);
  const from = performance.now();
  await failover();
  await program.done(doneMsMax);
  const numbers = Array.from({ length: count }, (_, i) => String(i + 1));
  assert.deepEqual(new Set(program.matches(/^confirmed (\d+)$/).map(([, number]) => number)), new Set(numbers));
  assert.deepEqual(new Set(got().map(([, number]) => number)), new Set(numbers));
  const again = new Set(program.matches(/^again (\d+)$/).map(([, number]) => number));
  const seen = new Set<string>();
  const twice: string[] = [];
  for (const [, number, flag] of got()) {
    if (flag !== undefined) continue;
    if (seen.has(number!) && !again.has(number!)) twice.push(number!);
    seen.add(number!);
  }
  if (client.resends !== true) assert.deepEqual(twice, [], 'unflagged, and sent once');
  const flagged = got().filter(([, , flag]) => flag !== undefined).length;
  const gapMs = program.lines.reduce(
    ({ last, gap }, { at }) => ({ last: at, gap: at > from ? Math.max(gap, at - last) : gap }),
    { last: from, gap: 0 },
  ).gap;
  console.log(
    `${client.name}: ${got().length} deliveries of ${count}, ${flagged} flagged, ${again.size} sent again, ${twice.length} twice, ` +
      `longest gap ${gapMs.toFixed()} ms`,
  );
}

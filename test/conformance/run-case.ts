/** One case against one target, and what that says with the lists of what is open. */
import { randomBytes } from 'node:crypto';
import { within } from '../support/within.js';
import type { Case } from './case.js';
import { open } from './open.js';
import { Session } from './session.js';
import type { Target } from './targets/target.js';

const caseMsMax = 40_000;
const patienceMs = 8000;
/** Nothing is expected of a case that is open; it is not waited for. */
const openPatienceMs = 1000;

/** So that two runs against one broker have different names. */
const run = randomBytes(3).toString('hex');
let count = 0;

/** undefined: it passed. */
async function failureOf(one: Case, target: Target, isOpen: boolean): Promise<Error | undefined> {
  count++;
  const session = new Session(target, `${run}.${count}`, isOpen ? openPatienceMs : patienceMs);
  try {
    await within(caseMsMax, one.title, one.run(session));
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    await session.end();
  }
}

/** Runs a case; rejects if it fails, or passes although it is listed as open. */
export async function check(one: Case, target: Target): Promise<void> {
  const reason = target.isOurs ? open.get(one.title) : undefined;
  const failure = await failureOf(one, target, reason !== undefined);
  if (failure !== undefined && reason === undefined) throw failure;
  if (failure === undefined && reason !== undefined)
    throw new Error(`it passes: take it off test/conformance/open.ts, which has it as open: ${reason}`);
}

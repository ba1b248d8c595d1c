/** Depths of a queue at which its publishers wait, and go on: what the settings `flow-stop-*` and `flow-resume-*` mean together. */
import type { ArgumentValue } from '../broker.js';
import type { FlowLimits } from '../queue/queue-traits.js';
import { aliasOf } from './aliases.js';

/** Of a setting by its name in policies; undefined or 0: it is not set. */
type Value = (key: string) => ArgumentValue | undefined;

/** Undefined: nobody waits. */
export function flowLimits(value: Value): FlowLimits | undefined {
  const [stopCount, resumeCount] = limits('count', value);
  const [stopBytes, resumeBytes] = limits('size', value);
  const never = Number.POSITIVE_INFINITY;
  return stopCount === never && stopBytes === never ? undefined : { stopCount, stopBytes, resumeCount, resumeBytes };
}

/** Without a depth at which they go on that is three quarters of the other, rounded up. */
function limits(unit: 'count' | 'size', value: Value): [stop: number, resume: number] {
  const stop = set(value(`flow-stop-${unit}`)) ?? Number.POSITIVE_INFINITY;
  const resume = set(value(`flow-resume-${unit}`)) ?? Math.ceil(stop * 0.75);
  return [stop, Math.min(resume, stop)];
}

/** What is wrong with settings that were given together: which, and why; undefined: nothing. */
export function flowSettingProblem(value: Value): { key: string; reason: string } | undefined {
  for (const unit of ['count', 'size']) {
    const key = `flow-resume-${unit}`;
    const resume = set(value(key));
    const stop = set(value(`flow-stop-${unit}`));
    if (resume === undefined) continue;
    if (stop === undefined) return { key, reason: `it needs 'flow-stop-${unit}'` };
    if (resume > stop) return { key, reason: `${resume} is above 'flow-stop-${unit}', which is ${stop}` };
  }
  return undefined;
}

/** The same of a queue's arguments, each by the name that it has there. */
export function flowProblem(
  argument: (name: string) => ArgumentValue | undefined,
): ReturnType<typeof flowSettingProblem> {
  const problem = flowSettingProblem((key) => argument(`x-${key}`) ?? argument(aliasOf(key)!));
  if (problem === undefined) return undefined;
  const own = `x-${problem.key}`;
  return { key: argument(own) === undefined ? aliasOf(problem.key)! : own, reason: problem.reason };
}

function set(value: ArgumentValue | undefined): number | undefined {
  return value === undefined || Number(value) === 0 ? undefined : Number(value);
}

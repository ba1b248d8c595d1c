/** Arguments of queues that Qpid has, and the settings that they stand for. The argument that begins with `x-` goes before them. */
import type { ArgumentValue } from '../broker.js';
import { Overflow } from '../queue/queue-traits.js';
import { type Check, oneOf } from '../wiring/argument-checks.js';

const aliases: ReadonlyMap<string, string> = new Map([
  ['max-length', 'qpid.max_count'],
  ['max-length-bytes', 'qpid.max_size'],
  ['overflow', 'qpid.policy_type'],
  ['flow-stop-count', 'qpid.flow_stop_count'],
  ['flow-stop-size', 'qpid.flow_stop_size'],
  ['flow-resume-count', 'qpid.flow_resume_count'],
  ['flow-resume-size', 'qpid.flow_resume_size'],
]);

/** What `qpid.policy_type` may be. A ring with priorities lets go of the lowest, another one of its oldest messages. */
const policyTypes: { readonly [value: string]: Overflow } = {
  ring: Overflow.dropLowest,
  reject: Overflow.rejectPublish,
};

/** Qpid's argument for the setting; undefined: it has none. */
export function aliasOf(key: string): string | undefined {
  return aliases.get(key);
}

/** What the value of the alias may be, given the check of the setting. */
export function aliasCheck(key: string, check: Check): Check {
  return key === 'overflow' ? oneOf(...Object.keys(policyTypes)) : check;
}

/** The setting's value, given that of its alias. */
export function aliasValue(key: string, value: ArgumentValue): ArgumentValue {
  return key === 'overflow' ? policyTypes[String(value)]! : value;
}

/** What operators' policies may set, and what comes of both policies of a queue. Both as in RabbitMQ. */
import { type ApplyTo, type Definition, type DefinitionValue, definitionProblem } from './definition.js';

/** All are limits: the lower one counts, whoever has set it. */
const keys: readonly string[] = ['expires', 'message-ttl', 'max-length', 'max-length-bytes', 'delivery-limit'];

/**
 * Checks a definition of an operator's policy as it came from outside.
 * @returns '' or what is wrong with it.
 */
export function operatorDefinitionProblem(definition: unknown, applyTo: ApplyTo): string {
  const known = keys.join(', ');
  const other = Object.keys((definition ?? {}) as object).find((key) => !keys.includes(key));
  if (other !== undefined) return `'${other}' is no key of an operator policy's definition: it may have ${known}`;
  return definitionProblem(definition, applyTo, known);
}

/** Undefined: nothing is set. */
export function mergedDefinition(
  own: Definition | undefined,
  operators: Definition | undefined,
): Definition | undefined {
  if (own === undefined || operators === undefined) return own ?? operators;
  const merged: Record<string, DefinitionValue> = { ...own };
  for (const [key, value] of Object.entries(operators))
    merged[key] = Object.hasOwn(own, key) ? lower(own[key]!, value) : value;
  return merged;
}

/** Below zero is no limit (`delivery-limit`: -1). What is no number is as the operator says. */
function lower(own: DefinitionValue, operators: DefinitionValue): DefinitionValue {
  if (typeof own !== 'number' || typeof operators !== 'number') return operators;
  if (own < 0 || operators < 0) return Math.max(own, operators);
  return Math.min(own, operators);
}

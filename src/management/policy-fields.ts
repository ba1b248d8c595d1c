import type { PolicyObject } from '../model/wiring/objects.js';
import { badRequest } from './read.js';

export type PolicyFields = Pick<PolicyObject, 'pattern' | 'priority' | 'applyTo' | 'definition'>;

/**
 * Only the shape; what the values may be is for the wiring to judge.
 * @param applyToDefault to what it applies if that is not said
 * @throws HttpError 400
 */
export function policyFields(body: Record<string, unknown>, applyToDefault: PolicyFields['applyTo']): PolicyFields {
  const { pattern, definition, priority = 0, 'apply-to': applyTo = applyToDefault } = body;
  if (typeof pattern !== 'string') throw badRequest('"pattern" must be a text, a regular expression');
  if (typeof priority !== 'number') throw badRequest('"priority" must be a number');
  if (typeof applyTo !== 'string') throw badRequest('"apply-to" must be a text');
  if (typeof definition !== 'object' || definition === null || Array.isArray(definition))
    throw badRequest('"definition" must be an object of keys and values');
  return {
    pattern,
    priority,
    applyTo: applyTo as PolicyFields['applyTo'],
    definition: definition as PolicyFields['definition'],
  };
}

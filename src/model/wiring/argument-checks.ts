/** What values of arguments and policies may be. */
import type { ArgumentValue } from '../broker.js';
import { argumentsEqual } from './arguments.js';

/** Says what is expected of a value, or '' if it is right. */
export type Check = (value: ArgumentValue) => string;

export function integer(min: number, max: number = Number.MAX_SAFE_INTEGER): Check {
  const wanted = max === Number.MAX_SAFE_INTEGER ? `an integer of at least ${min}` : `an integer from ${min} to ${max}`;
  return (value) => {
    const number = typeof value === 'bigint' ? Number(value) : value;
    return typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max ? '' : wanted;
  };
}

export function oneOf(...values: (string | number | boolean)[]): Check {
  const wanted = values.map((value) => `'${value}'`).join(' or ');
  return (value) => (values.some((one) => argumentsEqual(one, value)) ? '' : wanted);
}

export const text: Check = (value) => (typeof value === 'string' ? '' : 'a string');
export const flag: Check = (value) => (typeof value === 'boolean' ? '' : 'a boolean');

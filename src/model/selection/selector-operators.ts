/** What the operators of selectors do, with three values: true, false, and unknown, which is undefined (JMS 2.0 §3.8.1.2). */
import { likeTextMax } from './like.js';
import type { SelectorValue } from './message-fields.js';
import type { Expression } from './selector-expression.js';

/** False if one is false, else unknown if one is. */
export function allOf(parts: readonly Expression[]): Expression {
  return (values) => {
    let result: boolean | undefined = true;
    for (const part of parts) {
      const value = part(values);
      if (value === false) return false;
      if (value !== true) result = undefined;
    }
    return result;
  };
}

/** True if one is true, else unknown if one is. */
export function anyOf(parts: readonly Expression[]): Expression {
  return (values) => {
    let result: boolean | undefined = false;
    for (const part of parts) {
      const value = part(values);
      if (value === true) return true;
      if (value !== false) result = undefined;
    }
    return result;
  };
}

export function not(part: Expression): Expression {
  return (values) => {
    const value = part(values);
    return typeof value === 'boolean' ? !value : undefined;
  };
}

export function negated(part: Expression, isNegated: boolean): Expression {
  return isNegated ? not(part) : part;
}

export function isNull(part: Expression, isNegated: boolean): Expression {
  return (values) => (part(values) === undefined) !== isNegated;
}

function isNumber(value: SelectorValue): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

function isLess(a: number | bigint, b: number | bigint): boolean {
  return a < b;
}

/** An integer and another number may be equal. */
function areEqual(a: number | bigint, b: number | bigint): boolean {
  return a <= b && a >= b;
}

/** Values of different kinds are neither equal nor unequal: that is false. Texts and booleans have no order. */
export function comparison(sign: string, left: Expression, right: Expression): Expression {
  const byOrder = orders[sign];
  return (values) => {
    const a = left(values);
    if (a === undefined) return undefined;
    const b = right(values);
    if (b === undefined) return undefined;
    if (isNumber(a) && isNumber(b)) {
      if (byOrder !== undefined) return byOrder(a, b);
      return areEqual(a, b) === (sign === '=');
    }
    if (byOrder !== undefined || typeof a !== typeof b) return false;
    return (a === b) === (sign === '=');
  };
}

const orders: Readonly<Record<string, (a: number | bigint, b: number | bigint) => boolean>> = {
  '<': isLess,
  '>': (a, b) => isLess(b, a),
  '<=': (a, b) => a <= b,
  '>=': (a, b) => a >= b,
};

export function between(value: Expression, low: Expression, high: Expression): Expression {
  return allOf([comparison('>=', value, low), comparison('<=', value, high)]);
}

export function isIn(part: Expression, list: readonly SelectorValue[]): Expression {
  const others = new Set(list.filter((one) => !isNumber(one)));
  const numbers = list.filter(isNumber);
  return (values) => {
    const value = part(values);
    if (value === undefined) return undefined;
    if (!isNumber(value)) return others.has(value);
    return numbers.some((one) => areEqual(one, value));
  };
}

/** What is no text, or one that is too long, is unknown. */
export function isLike(part: Expression, matches: (text: string) => boolean): Expression {
  return (values) => {
    const value = part(values);
    return typeof value === 'string' && value.length <= likeTextMax ? matches(value) : undefined;
  };
}

/** As Java calculates: integers have 64 bits, and stay integers. What cannot be calculated is unknown. */
export function arithmetic(sign: string, left: Expression, right: Expression): Expression {
  return (values) => {
    const a = left(values);
    const b = right(values);
    if (!isNumber(a) || !isNumber(b)) return undefined;
    if (typeof a === 'bigint' && typeof b === 'bigint') {
      if (sign === '/' && b === 0n) return undefined;
      return BigInt.asIntN(64, onIntegers(sign, a, b));
    }
    return onNumbers(sign, Number(a), Number(b));
  };
}

function onIntegers(sign: string, a: bigint, b: bigint): bigint {
  if (sign === '+') return a + b;
  if (sign === '-') return a - b;
  return sign === '*' ? a * b : a / b;
}

function onNumbers(sign: string, a: number, b: number): number {
  if (sign === '+') return a + b;
  if (sign === '-') return a - b;
  return sign === '*' ? a * b : a / b;
}

import type { SelectorValue } from './message-fields.js';

/** Gives the expression's value. @param values of the names, by their numbers */
export type Expression = (values: ValueSource) => SelectorValue;

/** The values of the identifiers in a message. */
export interface ValueSource {
  value(name: number): SelectorValue;
}

import type { MessageFields, SelectorValue } from './message-fields.js';
import { type Reading, readingOf } from './selector-names.js';
import type { Expression, ValueSource } from './selector-expression.js';
import { parseSelector } from './selector-parser.js';

/** What was not read yet of the message at hand. */
const unread = Symbol('unread');

/** A selector, read once; a message is asked for each name at most once, and only if the answer matters. */
export class Selector implements ValueSource {
  /** Characters of its patterns. */
  readonly patterns: number;
  /** It has several names: a message with many properties has them all looked at. */
  readonly hasNames: boolean;
  /** Operands and operators: what each message costs. */
  readonly nodes: number;
  private readonly run: Expression;
  private readonly readings: readonly Reading[];
  private readonly values: (SelectorValue | typeof unread)[];
  private message: MessageFields | undefined;

  /** Throws SelectorError. */
  constructor(text: string) {
    const { matches, names, patterns, nodes } = parseSelector(text);
    this.patterns = patterns;
    this.nodes = nodes;
    this.hasNames = names.length > 1;
    this.run = matches;
    this.readings = names.map(readingOf);
    this.values = names.map(() => unread);
  }

  /** What is unknown does not match. */
  matches(message: MessageFields): boolean {
    this.message = message;
    this.values.fill(unread);
    return this.run(this) === true;
  }

  value(name: number): SelectorValue {
    const known = this.values[name]!;
    if (known !== unread) return known;
    const value = this.readings[name]!(this.message!);
    this.values[name] = value;
    return value;
  }
}

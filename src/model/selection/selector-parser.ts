/**
 * Reads a selector (JMS 2.0 §3.8.1) into a program of closures. SQL-92's conditional expressions with three values: what is unknown is
 * undefined.
 *
 *   or := and (OR and)*     and := not (AND not)*     not := NOT not | predicate
 *   predicate := sum [ (= | <> | < | <= | > | >=) sum | [NOT] BETWEEN sum AND sum | [NOT] IN (literal, ...)
 *                    | [NOT] LIKE text [ESCAPE text] | IS [NOT] NULL ]
 *   sum := product ((+ | -) product)*     product := unary ((* | /) unary)*     unary := (+ | -) unary | primary
 *   primary := literal | identifier | ( or )
 */
import {
  allOf,
  anyOf,
  arithmetic,
  between,
  comparison,
  isIn,
  isLike,
  isNull,
  negated,
  not,
} from './selector-operators.js';
import { likeMatcher } from './like.js';
import type { SelectorValue } from './message-fields.js';
import type { Expression } from './selector-expression.js';
import { SelectorError } from './selector-error.js';
import { type Token, TokenKind, tokensOf } from './selector-tokens.js';

/** Characters of a selector; operands and operators in it; parentheses and signs in each other; different names; characters of its patterns. */
export const selectorLimits = { characters: 16_384, nodes: 1024, depth: 64, names: 64, patterns: 256 } as const;

/** What an expression can be: `any` depends on the message. */
type Type = 'boolean' | 'number' | 'text' | 'any';

interface Typed {
  readonly run: Expression;
  readonly type: Type;
  readonly at: number;
  /** It is written out in the selector. */
  readonly literal?: SelectorValue;
}

export interface ParsedSelector {
  readonly matches: Expression;
  readonly names: readonly string[];
  /** Characters of its patterns: what a message costs that has long texts. */
  readonly patterns: number;
  /** Its operands and operators. */
  readonly nodes: number;
}

/** Throws SelectorError. */
export function parseSelector(text: string): ParsedSelector {
  if (text.length > selectorLimits.characters)
    throw new SelectorError(`it has more than ${selectorLimits.characters} characters`, selectorLimits.characters);
  return new SelectorParser(tokensOf(text)).parse();
}

const comparisons = new Set(['=', '<>', '<', '<=', '>', '>=']);

class SelectorParser {
  private readonly tokens: readonly Token[];
  private next = 0;
  private depth = 0;
  private nodes = 0;
  private patterns = 0;
  private readonly names: string[] = [];

  constructor(tokens: readonly Token[]) {
    this.tokens = tokens;
  }

  parse(): ParsedSelector {
    const condition = this.condition(this.or());
    const { kind, text, at } = this.token;
    if (kind !== TokenKind.end) throw new SelectorError(`'${text}' is not expected`, at);
    return { matches: condition, names: this.names, patterns: this.patterns, nodes: this.nodes };
  }

  private get token(): Token {
    return this.tokens[this.next]!;
  }

  private takes(text: string): boolean {
    const { kind } = this.token;
    if (this.token.text !== text || (kind !== TokenKind.keyword && kind !== TokenKind.sign)) return false;
    this.next++;
    return true;
  }

  private expect(text: string): void {
    const { at } = this.token;
    if (!this.takes(text)) throw new SelectorError(`${text} is expected`, at);
  }

  private node(at: number): void {
    if (++this.nodes > selectorLimits.nodes)
      throw new SelectorError(`it has more than ${selectorLimits.nodes} operands and operators`, at);
  }

  /** What is in parentheses, or behind a sign. */
  private deeper<T>(read: () => T): T {
    if (++this.depth > selectorLimits.depth)
      throw new SelectorError(`it is nested more than ${selectorLimits.depth} deep`, this.token.at);
    const value = read();
    this.depth--;
    return value;
  }

  private condition({ run, type, at }: Typed): Expression {
    if (type !== 'boolean' && type !== 'any') throw new SelectorError(`a ${type} stands where a condition is due`, at);
    return run;
  }

  private number({ run, type, at }: Typed): Expression {
    if (type !== 'number' && type !== 'any') throw new SelectorError(`a ${type} stands where a number is due`, at);
    return run;
  }

  private or(): Typed {
    return this.chain('OR', () => this.and(), anyOf);
  }

  private and(): Typed {
    return this.chain('AND', () => this.not(), allOf);
  }

  private chain(word: string, read: () => Typed, join: (parts: readonly Expression[]) => Expression): Typed {
    const first = read();
    const { at } = this.token;
    if (this.token.kind !== TokenKind.keyword || this.token.text !== word) return first;
    const parts = [this.condition(first)];
    while (this.takes(word)) {
      this.node(at);
      parts.push(this.condition(read()));
    }
    return { run: join(parts), type: 'boolean', at };
  }

  private not(): Typed {
    const { at } = this.token;
    if (!this.takes('NOT')) return this.predicate();
    this.node(at);
    return this.deeper(() => ({ run: not(this.condition(this.not())), type: 'boolean', at }));
  }

  private predicate(): Typed {
    const left = this.sum();
    const { kind, text, at } = this.token;
    const boolean = (run: Expression): Typed => ({ run, type: 'boolean', at });
    if (kind === TokenKind.sign && comparisons.has(text)) {
      this.next++;
      this.node(at);
      return boolean(comparison(text, left.run, this.sum().run));
    }
    if (this.takes('IS')) {
      const isNegated = this.takes('NOT');
      this.expect('NULL');
      this.node(at);
      return boolean(isNull(left.run, isNegated));
    }
    const isNegated = this.takes('NOT');
    if (this.takes('BETWEEN')) return boolean(negated(this.range(left), isNegated));
    if (this.takes('IN')) return boolean(negated(this.list(left), isNegated));
    if (this.takes('LIKE')) return boolean(negated(this.pattern(left), isNegated));
    if (isNegated) throw new SelectorError('BETWEEN, IN or LIKE is expected behind NOT', this.token.at);
    return left;
  }

  private range(value: Typed): Expression {
    this.node(value.at);
    const low = this.number(this.sum());
    this.expect('AND');
    return between(this.number(value), low, this.number(this.sum()));
  }

  private list({ run }: Typed): Expression {
    this.expect('(');
    const values: SelectorValue[] = [];
    do {
      const { literal, at } = this.unary();
      if (literal === undefined) throw new SelectorError('a literal is expected in the list of IN', at);
      values.push(literal);
    } while (this.takes(','));
    this.expect(')');
    return isIn(run, values);
  }

  private pattern({ run, type, at }: Typed): Expression {
    if (type !== 'text' && type !== 'any') throw new SelectorError(`a ${type} cannot be LIKE something`, at);
    const pattern = this.text();
    this.patterns += pattern.length;
    if (this.patterns > selectorLimits.patterns)
      throw new SelectorError(`its patterns have more than ${selectorLimits.patterns} characters`, at);
    const escapeAt = this.token.at;
    const escape = this.takes('ESCAPE') ? this.text() : '';
    if (escape.length > 1) throw new SelectorError('an escape character is one character', escapeAt);
    const matcher = likeMatcher(pattern, escape);
    if (matcher === undefined)
      throw new SelectorError(`'${escape}' stands before something else than % or _`, escapeAt);
    this.node(at);
    return isLike(run, matcher);
  }

  private text(): string {
    const { kind, text, at } = this.token;
    if (kind !== TokenKind.text) throw new SelectorError('a text in single quotes is expected', at);
    this.next++;
    return text;
  }

  private sum(): Typed {
    return this.operators(['+', '-'], () => this.product());
  }

  private product(): Typed {
    return this.operators(['*', '/'], () => this.unary());
  }

  private operators(signs: readonly string[], read: () => Typed): Typed {
    let left = read();
    for (;;) {
      const { kind, text, at } = this.token;
      if (kind !== TokenKind.sign || !signs.includes(text)) return left;
      this.next++;
      this.node(at);
      left = { run: arithmetic(text, this.number(left), this.number(read())), type: 'number', at: left.at };
    }
  }

  private unary(): Typed {
    const { at } = this.token;
    const isMinus = this.takes('-');
    if (!isMinus && !this.takes('+')) return this.primary();
    this.node(at);
    const operand = this.deeper(() => this.unary());
    const run = this.number(operand);
    if (!isMinus) return { ...operand, run, type: 'number' };
    const { literal } = operand;
    if (typeof literal !== 'number' && typeof literal !== 'bigint')
      return { run: arithmetic('-', () => 0n, run), type: 'number', at };
    const value = -literal;
    return { run: () => value, type: 'number', at, literal: value };
  }

  private primary(): Typed {
    const { kind, text, value, at } = this.token;
    this.next++;
    this.node(at);
    const literal = (of: SelectorValue, type: Type): Typed => ({ run: () => of, type, at, literal: of });
    if (kind === TokenKind.number) return literal(value, 'number');
    if (kind === TokenKind.text) return literal(text, 'text');
    if (kind === TokenKind.identifier) return { run: this.nameOf(text, at), type: 'any', at };
    if (kind === TokenKind.keyword && (text === 'TRUE' || text === 'FALSE')) return literal(text === 'TRUE', 'boolean');
    if (kind === TokenKind.sign && text === '(') {
      const inner = this.deeper(() => this.or());
      this.expect(')');
      return { run: inner.run, type: inner.type, at };
    }
    throw new SelectorError(kind === TokenKind.end ? 'it ends where a value is due' : `'${text}' is not expected`, at);
  }

  private nameOf(name: string, at: number): Expression {
    let number = this.names.indexOf(name);
    if (number < 0) {
      if (this.names.length >= selectorLimits.names)
        throw new SelectorError(`it has more than ${selectorLimits.names} different names`, at);
      number = this.names.push(name) - 1;
    }
    return (values) => values.value(number);
  }
}

/** The words of a selector (JMS 2.0 §3.8.1.1): literals, identifiers, keywords, signs. */
import { SelectorError } from './selector-error.js';

export const TokenKind = { end: 0, sign: 1, keyword: 2, identifier: 3, text: 4, number: 5 } as const;
export type TokenKind = (typeof TokenKind)[keyof typeof TokenKind];

export interface Token {
  readonly kind: TokenKind;
  /** A keyword in upper case; a sign; a name; a literal's text. */
  readonly text: string;
  /** Of a number: integers are bigint. */
  readonly value: number | bigint;
  /** Where it begins. */
  readonly at: number;
}

const keywords = new Set(['AND', 'OR', 'NOT', 'BETWEEN', 'IN', 'LIKE', 'ESCAPE', 'IS', 'NULL', 'TRUE', 'FALSE']);
const space = /[ \t\r\n\f]+/y;
/** Java's identifiers, with what AMQP's names have besides. */
const identifier = /[\p{L}\p{Nl}_$][\p{L}\p{Nl}\p{Nd}_$.:]*/uy;
const integer = /(?:0[xX][0-9a-fA-F]+|[0-9]+)[lL]?(?![\p{L}\p{Nd}_$.])/uy;
const decimal = /(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eEfFdD]))(?:[eE][+-]?[0-9]+)?[fFdD]?(?![\p{L}\p{Nd}_$.])/uy;
const sign = /<>|!=|<=|>=|[=<>+\-*/(),]/y;
const longMax = 2n ** 63n - 1n;

/** Cuts the text into words; the last one is the end. Throws SelectorError. */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let at = match(space, text, 0)?.length ?? 0;
  while (at < text.length) {
    const [token, end] = tokenAt(text, at);
    tokens.push(token);
    at = end + (match(space, text, end)?.length ?? 0);
  }
  tokens.push({ kind: TokenKind.end, text: '', value: 0, at });
  return tokens;
}

function tokenAt(text: string, at: number): [Token, end: number] {
  const first = text[at]!;
  if (first === "'" || first === '"') return quoted(text, at, first);
  const name = match(identifier, text, at);
  if (name !== undefined) {
    const upper = name.toUpperCase();
    const kind = keywords.has(upper) ? TokenKind.keyword : TokenKind.identifier;
    return [{ kind, text: kind === TokenKind.keyword ? upper : name, value: 0, at }, at + name.length];
  }
  const whole = match(integer, text, at);
  if (whole !== undefined)
    return [{ kind: TokenKind.number, text: whole, value: integerOf(whole, at), at }, at + whole.length];
  const fraction = match(decimal, text, at);
  if (fraction !== undefined) {
    const value = Number(fraction.replace(/[fFdD]$/, ''));
    return [{ kind: TokenKind.number, text: fraction, value, at }, at + fraction.length];
  }
  const found = match(sign, text, at);
  if (found === undefined) throw new SelectorError(`'${first}' is not understood`, at);
  return [{ kind: TokenKind.sign, text: found === '!=' ? '<>' : found, value: 0, at }, at + found.length];
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

/** A text in single quotes, a name in double ones; the quote itself is written twice. */
function quoted(text: string, at: number, quote: string): [Token, end: number] {
  let content = '';
  for (let from = at + 1; ; ) {
    const end = text.indexOf(quote, from);
    if (end < 0) throw new SelectorError(`a ${quote} is not closed`, at);
    content += text.slice(from, end);
    if (text[end + 1] !== quote) {
      const kind = quote === "'" ? TokenKind.text : TokenKind.identifier;
      return [{ kind, text: content, value: 0, at }, end + 1];
    }
    content += quote;
    from = end + 2;
  }
}

/** As Java has them: 0x1f is hexadecimal, 017 octal. */
function integerOf(text: string, at: number): bigint {
  const digits = text.replace(/[lL]$/, '');
  const isOctal = /^0[0-9]+$/.test(digits);
  if (isOctal && /[89]/.test(digits)) throw new SelectorError(`'${text}' is no octal number`, at);
  // What is longer is not even converted: that would take long.
  const value = digits.length > 25 ? longMax + 2n : BigInt(isOctal ? `0o${digits.slice(1)}` : digits);
  // One more than the highest may have a minus before it.
  if (value > longMax + 1n) throw new SelectorError(`'${text.slice(0, 30)}' has more than 64 bits`, at);
  return value;
}

/**
 * Reads regular expressions as policies have them: those of Perl without what cannot be matched in linear time (backreferences,
 * lookaround, possessive and atomic groups).
 *
 *   alternatives := sequence ('|' sequence)*      sequence := (atom quantifier?)*
 *   atom := character | . | [class] | \escape | ^ | $ | ( alternatives )
 */

/** Is this character (a code point) one of the set? */
export type CharacterSet = (character: number) => boolean;

export type PatternNode =
  | { readonly kind: 'set'; readonly set: CharacterSet }
  | { readonly kind: 'start' | 'end' | 'boundary' | 'inside' }
  | { readonly kind: 'sequence' | 'alternatives'; readonly nodes: readonly PatternNode[] }
  | { readonly kind: 'repeat'; readonly node: PatternNode; readonly min: number; readonly max: number };

const repeatMax = 1000;
const depthMax = 50;

const isDigit: CharacterSet = (c) => c >= 0x30 && c <= 0x39;
export const isWord: CharacterSet = (c) =>
  isDigit(c) || (c >= 0x41 && c <= 0x5a) || (c >= 0x61 && c <= 0x7a) || c === 0x5f;
const isSpace: CharacterSet = (c) => c === 0x20 || (c >= 0x09 && c <= 0x0d);

function not(set: CharacterSet): CharacterSet {
  return (c) => !set(c);
}

const classes: ReadonlyMap<string, CharacterSet> = new Map([
  ['d', isDigit],
  ['D', not(isDigit)],
  ['w', isWord],
  ['W', not(isWord)],
  ['s', isSpace],
  ['S', not(isSpace)],
]);
const controls: ReadonlyMap<string, number> = new Map([
  ['t', 0x09],
  ['n', 0x0a],
  ['r', 0x0d],
  ['f', 0x0c],
]);
const places: ReadonlyMap<string, 'start' | 'end' | 'boundary' | 'inside'> = new Map([
  ['A', 'start'],
  ['z', 'end'],
  ['b', 'boundary'],
  ['B', 'inside'],
]);

/** The text says what is wrong, and where. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

/** @throws PatternError */
export function parsePattern(text: string): PatternNode {
  return new Parser(text).whole();
}

class Parser {
  private readonly characters: readonly string[];
  private at = 0;
  private depth = 0;

  constructor(text: string) {
    this.characters = Array.from(text);
  }

  whole(): PatternNode {
    const node = this.alternatives();
    if (this.at < this.characters.length) throw this.error("a ')' without its '('");
    return node;
  }

  private error(what: string): PatternError {
    return new PatternError(`${what}, at character ${this.at + 1}`);
  }

  private next(): string | undefined {
    return this.characters[this.at];
  }

  private accept(character: string): boolean {
    if (this.next() !== character) return false;
    this.at++;
    return true;
  }

  private alternatives(): PatternNode {
    if (++this.depth > depthMax) throw this.error(`more than ${depthMax} groups within each other`);
    const nodes = [this.sequence()];
    while (this.accept('|')) nodes.push(this.sequence());
    this.depth--;
    return nodes.length === 1 ? nodes[0]! : { kind: 'alternatives', nodes };
  }

  private sequence(): PatternNode {
    const nodes: PatternNode[] = [];
    for (;;) {
      const next = this.next();
      if (next === undefined || next === '|' || next === ')') return { kind: 'sequence', nodes };
      nodes.push(this.quantified(this.atom()));
    }
  }

  private quantified(node: PatternNode): PatternNode {
    const range = this.range();
    if (range === undefined) return node;
    const [min, max] = range;
    // Which of the matches is found first does not matter here.
    if (this.accept('?')) return { kind: 'repeat', node, min, max };
    if (this.next() === '+') throw this.error('possessive quantifiers are not supported');
    if (this.range() !== undefined) throw this.error('a quantifier after a quantifier');
    return { kind: 'repeat', node, min, max };
  }

  private range(): [min: number, max: number] | undefined {
    if (this.accept('*')) return [0, Number.POSITIVE_INFINITY];
    if (this.accept('+')) return [1, Number.POSITIVE_INFINITY];
    if (this.accept('?')) return [0, 1];
    if (this.next() !== '{') return undefined;
    const found = /^\{(\d{1,9})(,(\d{0,9}))?\}/.exec(this.characters.slice(this.at, this.at + 24).join(''));
    if (found === null) return undefined;
    const min = Number(found[1]);
    const max = found[2] === undefined ? min : found[3] === '' ? Number.POSITIVE_INFINITY : Number(found[3]);
    if (min > max) throw this.error('a quantifier whose least is more than its most');
    if (min > repeatMax || (max > repeatMax && max !== Number.POSITIVE_INFINITY))
      throw this.error(`a quantifier of more than ${repeatMax}`);
    this.at += found[0].length;
    return [min, max];
  }

  private atom(): PatternNode {
    const character = this.next()!;
    if ('*+?'.includes(character)) throw this.error(`nothing before '${character}'`);
    this.at++;
    switch (character) {
      case '^':
        return { kind: 'start' };
      case '$':
        return { kind: 'end' };
      case '.':
        return { kind: 'set', set: (c) => c !== 0x0a };
      case '(':
        return this.group();
      case '[':
        return { kind: 'set', set: this.class() };
      case '\\':
        return this.escaped();
      default:
        return one(character.codePointAt(0)!);
    }
  }

  private group(): PatternNode {
    if (this.accept('?') && !this.accept(':'))
      throw this.error("of groups with '(?' only '(?:' is supported: no lookaround, no options, no names");
    const node = this.alternatives();
    if (!this.accept(')')) throw this.error("a '(' without its ')'");
    return node;
  }

  private escaped(): PatternNode {
    const place = places.get(this.next() ?? '');
    if (place !== undefined) {
      this.at++;
      return { kind: place };
    }
    const meant = this.escape();
    return typeof meant === 'number' ? one(meant) : { kind: 'set', set: meant };
  }

  /** What follows a backslash: a character, or a set of them. */
  private escape(): number | CharacterSet {
    const letter = this.next();
    if (letter === undefined) throw this.error('nothing after the backslash');
    const set = classes.get(letter);
    if (set === undefined && letter !== 'x' && /[A-Za-z0-9]/.test(letter) && !controls.has(letter))
      throw this.error(`'\\${letter}' is not supported`);
    this.at++;
    if (set !== undefined) return set;
    if (letter === 'x') return this.hex();
    return controls.get(letter) ?? letter.codePointAt(0)!;
  }

  private hex(): number {
    const digits = this.characters.slice(this.at, this.at + 2).join('');
    if (!/^[0-9A-Fa-f]{2}$/.test(digits)) throw this.error("two hexadecimal digits are needed after '\\x'");
    this.at += 2;
    return Number.parseInt(digits, 16);
  }

  /** After the '['. */
  private class(): CharacterSet {
    const negated = this.accept('^');
    const sets: CharacterSet[] = [];
    for (let first = true; ; first = false) {
      if (this.next() === undefined) throw this.error("a '[' without its ']'");
      if (!first && this.accept(']')) break;
      const low = this.member();
      if (typeof low !== 'number') {
        sets.push(low);
        continue;
      }
      const isRange = this.next() === '-' && ![']', undefined].includes(this.characters[this.at + 1]);
      if (!isRange) {
        sets.push((c) => c === low);
        continue;
      }
      this.at++;
      const high = this.member();
      if (typeof high !== 'number' || high < low) throw this.error('a range that is none');
      sets.push((c) => c >= low && c <= high);
    }
    const any: CharacterSet = (c) => sets.some((set) => set(c));
    return negated ? not(any) : any;
  }

  private member(): number | CharacterSet {
    const character = this.next()!;
    this.at++;
    return character === '\\' ? this.escape() : character.codePointAt(0)!;
  }
}

function one(character: number): PatternNode {
  return { kind: 'set', set: (c) => c === character };
}

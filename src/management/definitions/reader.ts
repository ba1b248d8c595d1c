/**
 * Reads definitions as they come, however large: the JSON is taken apart at its outermost commas, and each part is parsed when it is
 * complete. So no turn of the event loop has more than a piece to read, and whoever reads is told where in the JSON something is wrong.
 *
 *   { "users": [ {...}, {...} ], "queues": [ ...
 *     key        part   part       key
 */
import { Definitions, DefinitionsError, isRemark, isSection, type SectionName } from './sections.js';

/** Bytes of one object, more than any object of the wiring may have; and of all of it. */
const partBytesMax = 1024 * 1024;
export const definitionsBytesMax: number = 64 * 1024 * 1024;

const Byte = {
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  openList: 0x5b,
  backslash: 0x5c,
  closeList: 0x5d,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const;

/** What must come next, outside of a part. */
const State = {
  begin: 'an object begins',
  key: 'a key, or the end of the object',
  nextKey: 'a key',
  colon: 'a colon',
  value: 'a value',
  afterValue: 'a comma, or the end of the object',
  item: 'an object, or the end of the list',
  nextItem: 'an object',
  afterItem: 'a comma, or the end of the list',
  end: 'nothing more',
} as const;
type State = (typeof State)[keyof typeof State];

export class DefinitionsReader {
  readonly definitions: Definitions = new Definitions();
  private state: State = State.begin;
  /** Bytes before the piece that is being read. */
  private before = 0;
  private key = '';
  private readonly keys = new Set<string>();
  /** Of the list that is being read; undefined: of no list. */
  private index: number | undefined = undefined;
  /** The part that has begun: what of it came with earlier pieces, and how deep it is. */
  private earlier: Buffer[] = [];
  private earlierBytes = 0;
  private isInPart = false;
  private depth = 0;
  private isInText = false;
  private isEscaped = false;

  /** @throws DefinitionsError */
  read(piece: Buffer): void {
    let from = 0;
    let at = 0;
    while (at < piece.length) {
      if (!this.isInPart) {
        at = this.between(piece, at);
        from = at;
        if (at === piece.length) break;
      }
      at = this.endOfPart(piece, at);
      if (this.isInPart) break;
      this.part(Buffer.concat([...this.earlier, piece.subarray(from, at)]));
    }
    if (this.isInPart) this.keep(piece.subarray(from));
    this.before += piece.length;
    if (this.before > definitionsBytesMax)
      throw new DefinitionsError(
        `there are more than ${definitionsBytesMax} bytes: import them in parts, such as all but the bindings first`,
        true,
      );
  }

  /** There is nothing more. @throws DefinitionsError */
  end(): Definitions {
    // A number at the end has no end of its own.
    if (this.isInPart || this.state !== State.end)
      throw new DefinitionsError(`it is cut off after ${this.before} bytes, ${this.place()}: ${this.state} is missing`);
    return this.definitions;
  }

  /** Goes on to where a part begins. */
  private between(piece: Buffer, start: number): number {
    for (let at = start; at < piece.length; at++) {
      const byte = piece[at]!;
      if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) continue;
      // The mark that some editors write at the beginning.
      if (this.state === State.begin && (byte === 0xef || byte === 0xbb || byte === 0xbf)) continue;
      if (this.begins(byte)) {
        this.isInPart = true;
        this.depth = 0;
        return at;
      }
      this.step(byte, at);
    }
    return piece.length;
  }

  private begins(byte: number): boolean {
    switch (this.state) {
      case State.key:
      case State.nextKey:
        return byte === Byte.quote;
      case State.value:
        return (byte !== Byte.openList || !isSection(this.key)) && byte !== Byte.comma && byte !== Byte.closeObject;
      case State.item:
      case State.nextItem:
        return byte !== Byte.closeList && byte !== Byte.comma;
      default:
        return false;
    }
  }

  /** A byte of the outermost object or of its lists. */
  private step(byte: number, at: number): void {
    const { state } = this;
    if (state === State.begin && byte === Byte.openObject) this.state = State.key;
    else if (state === State.key && byte === Byte.closeObject) this.state = State.end;
    else if (state === State.colon && byte === Byte.colon) this.state = State.value;
    else if (state === State.value && byte === Byte.openList) this.beginList();
    else if (state === State.item && byte === Byte.closeList) this.endList();
    else if (state === State.afterItem && byte === Byte.comma) this.state = State.nextItem;
    else if (state === State.afterItem && byte === Byte.closeList) this.endList();
    else if (state === State.afterValue && byte === Byte.comma) this.state = State.nextKey;
    else if (state === State.afterValue && byte === Byte.closeObject) this.state = State.end;
    else {
      const found = JSON.stringify(String.fromCharCode(byte));
      throw new DefinitionsError(`at byte ${this.before + at}, ${this.place()}: ${state} is expected, not ${found}`);
    }
  }

  private beginList(): void {
    this.state = State.item;
    this.index = 0;
  }

  private endList(): void {
    this.state = State.afterValue;
    this.index = undefined;
  }

  /** Where the part ends that has begun; the piece's length, and still in it, if it goes on. */
  private endOfPart(piece: Buffer, start: number): number {
    let { depth, isInText, isEscaped } = this;
    let at = start;
    for (; at < piece.length; at++) {
      const byte = piece[at]!;
      if (isInText) {
        if (isEscaped) isEscaped = false;
        else if (byte === Byte.backslash) isEscaped = true;
        else if (byte === Byte.quote) isInText = false;
        if (isInText || depth > 0 || !this.isKey) continue;
        at++;
        break;
      }
      if (byte === Byte.quote) isInText = true;
      else if (byte === Byte.openObject || byte === Byte.openList) depth++;
      else if (byte === Byte.closeObject || byte === Byte.closeList) {
        if (depth === 0) break;
        depth--;
      } else if (byte === Byte.comma && depth === 0) break;
    }
    this.isInPart = at === piece.length && !(this.isKey && !isInText && depth === 0);
    this.depth = depth;
    this.isInText = isInText;
    this.isEscaped = isEscaped;
    return at;
  }

  private get isKey(): boolean {
    return this.state === State.key || this.state === State.nextKey;
  }

  private keep(bytes: Buffer): void {
    this.earlier.push(bytes);
    this.earlierBytes += bytes.length;
    this.checkLength(this.earlierBytes);
  }

  private checkLength(bytes: number): void {
    if (bytes > partBytesMax) throw new DefinitionsError(`${this.place()}: it has more than ${partBytesMax} bytes`);
  }

  /** A part is complete. */
  private part(bytes: Buffer): void {
    this.earlier = [];
    this.earlierBytes = 0;
    this.checkLength(bytes.length);
    let value: unknown;
    try {
      value = JSON.parse(bytes.toString('utf8'));
    } catch (error) {
      throw new DefinitionsError(`${this.place()}: it is no JSON: ${(error as Error).message}`);
    }
    if (this.isKey) this.beginValue(value as string);
    else if (this.index === undefined) this.remark(value);
    else {
      this.definitions.sections[this.key as SectionName].push(value);
      this.index++;
      this.state = State.afterItem;
    }
  }

  private beginValue(key: string): void {
    if (this.keys.has(key)) throw new DefinitionsError(`${key}: it is there twice`);
    this.keys.add(key);
    this.key = key;
    this.state = State.colon;
  }

  /** A value that is no list. */
  private remark(value: unknown): void {
    const { key } = this;
    if (isSection(key)) throw new DefinitionsError(`${key}: a list is expected`);
    if (key === 'rabbit_version') this.definitions.rabbitVersion = String(value);
    else if (!isRemark(key)) throw new DefinitionsError(`${key}: it is not known what that is`);
    this.state = State.afterValue;
  }

  /** Where it is in the JSON. */
  private place(): string {
    if (this.index !== undefined) return `${this.key}[${this.index}]`;
    return this.key === '' ? 'at the beginning' : `at ${this.key}`;
  }
}

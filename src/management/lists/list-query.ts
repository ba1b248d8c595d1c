/** What a list is asked for: which page, of what names, in which order, with which fields; as RabbitMQ's management has it. */
import { PatternError } from '../../model/policy/pattern-parser.js';
import { Pattern } from '../../model/policy/pattern.js';
import { badRequest } from '../read.js';
import { HttpError } from '../resource.js';

export interface Page {
  readonly number: number;
  readonly size: number;
}

const pageSizeDefault = 100;
const pageSizeMax = 500;

export class ListQuery {
  /** Undefined: all of it. */
  readonly page: Page | undefined;
  /** A column, or one in another: `arguments.x-max-length`; undefined: the list has an order of its own. */
  readonly sort: readonly string[] | undefined;
  readonly isReversed: boolean;
  /** Undefined: all there are. */
  readonly columns: readonly (readonly string[])[] | undefined;
  private readonly name: string;
  private readonly pattern: Pattern | undefined;

  /** @param hasPages whether the list has pages. @throws HttpError 400 */
  constructor(query: URLSearchParams, hasPages: boolean) {
    const text = (key: string): string => query.get(key) ?? '';
    this.page = hasPages && query.has('page') ? pageOf(query) : undefined;
    this.name = this.page === undefined ? '' : text('name').toLowerCase();
    this.pattern = text('use_regex') === 'true' && this.name !== '' ? patternOf(this.name) : undefined;
    this.sort = text('sort') === '' ? undefined : pathOf(text('sort'));
    this.isReversed = text('sort_reverse') === 'true';
    this.columns = text('columns') === '' ? undefined : text('columns').split(',').map(pathOf);
  }

  /** The name is one of those that are asked for; upper and lower case are the same. */
  matches(name: string): boolean {
    if (this.name === '') return true;
    const found = name.toLowerCase();
    return this.pattern === undefined ? found.includes(this.name) : this.pattern.matches(found);
  }

  /** One of these fields is to be told, or sorted by. */
  wants(fields: readonly string[]): boolean {
    return (
      this.columns === undefined || this.sortsBy(fields) || this.columns.some(([first]) => fields.includes(first!))
    );
  }

  sortsBy(fields: readonly string[]): boolean {
    return this.sort !== undefined && fields.includes(this.sort[0]!);
  }

  /** The object with the fields that are asked for. */
  select(object: Record<string, unknown>): Record<string, unknown> {
    const { columns } = this;
    if (columns === undefined) return object;
    const selected: Record<string, unknown> = {};
    for (const path of columns) copy(object, selected, path);
    return selected;
  }

  /** What the object is sorted by. */
  sortKey(object: Record<string, unknown>): unknown {
    let value: unknown = object;
    for (const key of this.sort!) value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
    return value;
  }
}

function pathOf(column: string): string[] {
  // Names of arguments may have dots in them: what is deeper than that is one name.
  const [first, ...rest] = column.split('.');
  return rest.length === 0 ? [first!] : [first!, rest.join('.')];
}

function copy(from: Record<string, unknown>, to: Record<string, unknown>, [key, ...rest]: readonly string[]): void {
  if (key === undefined || !Object.hasOwn(from, key)) return;
  const value = from[key];
  if (rest.length === 0 || !isObject(value)) {
    set(to, key, value);
    return;
  }
  const inner = Object.hasOwn(to, key) && isObject(to[key]) ? to[key] : {};
  copy(value, inner, rest);
  set(to, key, inner);
}

/** Whatever the name is, `__proto__` included. */
function set(object: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function pageOf(query: URLSearchParams): Page {
  const number = wholeNumber(query.get('page'), 1);
  const size = wholeNumber(query.get('page_size'), pageSizeDefault);
  if (number >= 1 && size >= 1 && size <= pageSizeMax) return { number, size };
  throw new HttpError(
    400,
    'invalid_pagination_parameters',
    `Invalid pagination parameters: page number ${number}, page size ${size}: pages begin with 1, and have ${pageSizeMax} at most`,
  );
}

function wholeNumber(written: string | null, otherwise: number): number {
  if (written === null || written === '') return otherwise;
  if (!/^\d{1,9}$/.test(written)) throw badRequest(`Pagination parameters are invalid: "${written}" is no number`);
  return Number(written);
}

function patternOf(text: string): Pattern {
  try {
    return new Pattern(text);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw badRequest(`Pagination parameters are invalid: "name" is no regular expression: ${error.message}`);
  }
}

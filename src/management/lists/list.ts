/**
 * Lists as RabbitMQ's management gives them: whole, or by pages. However long one is, it is gathered, sorted and sent in steps that leave
 * the event loop to others, and never more of it than one step is held as text.
 */
import type { Pace } from '../pace.js';
import { HttpError, type ResourceRequest, Streamed } from '../resource.js';
import { compareTexts, sorted } from '../sorted.js';
import { ListQuery } from './list-query.js';

type Described = Record<string, unknown>;

export interface ListSource<T> {
  readonly items: Iterable<T>;
  /** Left out: all of them are. */
  isIn?(item: T): boolean;
  /** In its own order. */
  compare(a: T, b: T): number;
  describe(item: T): Described;
  /** It has pages, and can be looked through by this. */
  readonly name?: (item: T) => string;
  /** Fields that others must be asked for, and how: they come into the description. */
  readonly asked?: { readonly fields: readonly string[]; ask(item: T, described: Described): Promise<void> };
}

/** Descriptions that are being completed at a time: what is asked for waits for the disk, so many wait together. */
const askedMax = 512;

export async function list<T>(
  { query: written, pace }: Pick<ResourceRequest, 'query' | 'pace'>,
  source: ListSource<T>,
): Promise<Streamed | Described> {
  const query = new ListQuery(written, source.name !== undefined);
  return await new List(source, query, pace).answer();
}

class List<T> {
  private readonly source: ListSource<T>;
  private readonly query: ListQuery;
  private readonly pace: Pace;

  constructor(source: ListSource<T>, query: ListQuery, pace: Pace) {
    this.source = source;
    this.query = query;
    this.pace = pace;
  }

  async answer(): Promise<Streamed | Described> {
    const { page } = this.query;
    const { found, total } = await this.gather();
    const pageCount = page === undefined ? 0 : Math.ceil(found.length / page.size);
    if (page !== undefined && page.number > Math.max(1, pageCount))
      throw new HttpError(
        400,
        'page_out_of_range',
        `Page out of range, page: ${page.number} page size: ${page.size}, len: ${found.length}`,
      );
    const items = await this.inOrder(found);
    if (page === undefined) return new Streamed(this.parts(items));
    const shown = items.slice((page.number - 1) * page.size, page.number * page.size);
    const described: Described[] = [];
    for await (const each of this.described(shown)) described.push(each);
    return {
      filtered_count: found.length,
      item_count: described.length,
      items: described,
      page: page.number,
      page_count: pageCount,
      page_size: page.size,
      total_count: total,
    };
  }

  private async gather(): Promise<{ found: T[]; total: number }> {
    const { source, query, pace } = this;
    const { name } = source;
    const found: T[] = [];
    let total = 0;
    for (const item of source.items) {
      if (source.isIn?.(item) !== false) {
        total++;
        if (name === undefined || query.matches(name(item))) found.push(item);
      }
      if (pace.isOver) await pace.next();
    }
    return { found, total };
  }

  private async inOrder(items: readonly T[]): Promise<T[]> {
    const { source, query, pace } = this;
    const own = (a: T, b: T): number => source.compare(a, b);
    const ordered = query.sort === undefined ? await sorted(items, own, pace) : await this.byColumn(items);
    return query.isReversed ? ordered.reverse() : ordered;
  }

  private async byColumn(items: readonly T[]): Promise<T[]> {
    const { source, query, pace } = this;
    const isAsked = query.sortsBy(source.asked?.fields ?? []);
    const keyed: { item: T; key: unknown }[] = [];
    for (let from = 0; from < items.length; from += askedMax) {
      const some = items.slice(from, from + askedMax);
      const described = await this.complete(some, isAsked, (item) => (isAsked ? {} : source.describe(item)));
      for (let i = 0; i < some.length; i++) keyed.push({ item: some[i]!, key: query.sortKey(described[i]!) });
      if (pace.isOver) await pace.next();
    }
    const compare = (a: { item: T; key: unknown }, b: { item: T; key: unknown }): number =>
      compareValues(a.key, b.key) || source.compare(a.item, b.item);
    return (await sorted(keyed, compare, pace)).map(({ item }) => item);
  }

  private async *parts(items: readonly T[]): AsyncGenerator<string, void> {
    let before = '[';
    for await (const described of this.described(items)) {
      yield before + JSON.stringify(described);
      before = ',';
    }
    yield before === '[' ? '[]' : ']';
  }

  private async *described(items: readonly T[]): AsyncGenerator<Described, void> {
    const { source, query, pace } = this;
    const { asked } = source;
    const isAsked = asked !== undefined && query.wants(asked.fields);
    for (let from = 0; from < items.length; from += askedMax) {
      const some = items.slice(from, from + askedMax);
      for (const each of await this.complete(some, isAsked, (item) => source.describe(item))) {
        yield query.select(each);
        if (pace.isOver) await pace.next();
      }
    }
  }

  /** Begins with a description, and adds what is asked for. */
  private async complete(
    items: readonly T[],
    isAsked: boolean,
    describe: (item: T) => Described,
  ): Promise<Described[]> {
    const { source, pace } = this;
    const described: Described[] = [];
    const failures: unknown[] = [];
    const asking: Promise<void>[] = [];
    for (const item of items) {
      const each = describe(item);
      described.push(each);
      // Heard at once: what fails while others are begun would be nobody's.
      if (isAsked) asking.push(source.asked!.ask(item, each).catch((error: unknown) => void failures.push(error)));
      if (pace.isOver) await pace.next();
    }
    await Promise.all(asking);
    if (failures.length > 0) throw failures[0];
    return described;
  }
}

/** Numbers among numbers, texts among texts; what is not there, and what cannot be compared, first. */
function compareValues(a: unknown, b: unknown): number {
  const [x, y] = [rankOf(a), rankOf(b)];
  if (x !== y || x === 0) return x - y;
  if (typeof a === 'string') return compareTexts(a, b as string);
  return Number(a) - Number(b);
}

function rankOf(value: unknown): number {
  const rank = ['boolean', 'number', 'bigint', 'string'].indexOf(typeof value);
  return Number.isNaN(value) ? 0 : rank + 1;
}

import type { Lsn } from '../../log/lsn.js';
import { EnqueueView } from '../../log/record.js';
import type { ArgumentValue } from '../broker.js';
import type { GroupService } from './group-service.js';
import { markerFormat } from './marker-format.js';
import type { ServedQueue } from './served-queue.js';

/** The header by which a queue tells messages apart, of messages that are in memory or on disk. */
export class MessageKeys {
  private readonly name: string;
  private readonly service: GroupService;
  private readonly view = new EnqueueView();

  constructor(name: string, service: GroupService) {
    this.name = name;
    this.service = service;
  }

  /** Undefined: the message has none. */
  of(message: EnqueueView): string | undefined {
    if (message.format === markerFormat) return undefined;
    const table = this.service.headers.table(message);
    return Object.hasOwn(table, this.name) ? textOf(table[this.name]!) : undefined;
  }

  /** Goes through many messages, in slices. */
  walk(steps: Iterator<number, void>): void {
    this.service.walk(steps);
  }

  /** Something of the queue can be handed out. */
  dispatchSoon(queue: ServedQueue): void {
    this.service.dispatchSoon(queue);
  }

  /** `found` is called, now or later, if the message is there by then and has one. What cannot be read has none. */
  read(queue: ServedQueue, position: Lsn, found: (key: string) => void, other: () => void = nothing): void {
    const entry = queue.gone ? undefined : queue.state.index.find(position);
    if (entry === undefined) return other();
    const chunk = this.service.state.chunk(entry.chunk);
    if (chunk.bytes === undefined) {
      this.service.state.chunks.load(chunk, (error) => {
        if (error === undefined) this.read(queue, position, found, other);
        else other();
      });
      return;
    }
    const key = this.of(this.view.set(chunk.bytes, chunk.view!, entry.offset));
    if (key === undefined) other();
    else found(key);
  }
}

/** Numbers and texts that look alike are different. */
function textOf(value: ArgumentValue): string {
  if (typeof value === 'string') return `s${value}`;
  if (typeof value === 'number' || typeof value === 'bigint') return `n${value}`;
  if (value instanceof Uint8Array) return `b${Buffer.from(value).toString('latin1')}`;
  return `j${JSON.stringify(value, (_key, one: unknown) => (typeof one === 'bigint' ? `${one}` : one))}`;
}

function nothing(): void {}

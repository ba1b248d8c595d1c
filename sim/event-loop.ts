/**
 * Simulated time: one queue of events, ordered by (time, order of asking). Nothing else moves anything.
 *
 * The production code uses promises on its control path. After each event all microtasks run before the next event, so that
 * `await` takes no simulated time and every run interleaves in the same way. Node offers no documented way to do that
 * synchronously; `process._tickCallback` does it for 0.1 µs an event. Where it is missing, the loop goes through
 * `setImmediate` after every event instead: the same order, a dozen times slower.
 *
 * Each event belongs to a context: one life of one process, or none (the network, the clients, the director of faults).
 * A dead context's events are dropped, so its promises never settle and its code never runs again: exactly what kill -9 does.
 * A frozen context's events wait, in order, until it thaws. A slow one needs time for each event.
 */
export class SimEvent {
  readonly time: number;
  readonly order: number;
  readonly context: Context | null;
  /** Null once cancelled. */
  run: (() => void) | null;

  constructor(time: number, order: number, context: Context | null, run: () => void) {
    this.time = time;
    this.order = order;
    this.context = context;
    this.run = run;
  }

  cancel(): void {
    this.run = null;
  }
}

/** One life of one simulated process. */
export class Context {
  readonly name: string;
  /** Small number for the trace's hash. */
  readonly id: number;
  alive = true;
  frozen = false;
  /** Milliseconds that each event takes; 0 = none. */
  eventCostMs = 0;
  busyUntil = 0;
  /** Events that came while it was frozen or busy. */
  readonly deferred: SimEvent[] = [];
  wakeScheduled = false;

  constructor(name: string, id: number) {
    this.name = name;
    this.id = id;
  }
}

type TickCallback = () => void;

function findTickCallback(): TickCallback | undefined {
  const candidate = (process as unknown as { _tickCallback?: unknown })._tickCallback;
  return typeof candidate === 'function' ? (candidate as TickCallback) : undefined;
}

export class EventLoop {
  /** Simulated milliseconds since the start of the run. */
  now = 0;
  /** Events run so far. */
  count = 0;
  /** Digest of every event so far: equal digests, equal runs. */
  hash = 0x811c_9dc5;
  /** An event threw: the process it belongs to would have died of it. */
  onError: (error: unknown, context: Context | null) => void = (error) => {
    throw error;
  };
  private readonly heap: SimEvent[] = [];
  private order = 0;
  private contexts = 0;
  private stopped = false;
  private readonly tick: TickCallback | undefined;

  /** @param synchronous false to drain microtasks by `setImmediate` only */
  constructor(synchronous = true) {
    this.tick = synchronous ? findTickCallback() : undefined;
  }

  context(name: string): Context {
    return new Context(name, ++this.contexts);
  }

  /** Runs `run` at `time` (never before now) in `context`. */
  at(time: number, context: Context | null, run: () => void): SimEvent {
    const event = new SimEvent(time > this.now ? time : this.now, this.order++, context, run);
    this.push(event);
    return event;
  }

  after(delayMs: number, context: Context | null, run: () => void): SimEvent {
    return this.at(this.now + delayMs, context, run);
  }

  /** A promise for the clients' and the director's own code. */
  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(delayMs, null, resolve);
    });
  }

  /** The process is gone: nothing of it runs again. */
  kill(context: Context): void {
    context.alive = false;
    context.deferred.length = 0;
  }

  freeze(context: Context): void {
    context.frozen = true;
  }

  thaw(context: Context): void {
    context.frozen = false;
    this.scheduleWake(context);
  }

  /** Mixes a number into the digest. */
  note(value: number): void {
    this.hash = Math.imul(this.hash ^ (value | 0), 0x0100_0193) >>> 0;
  }

  stop(): void {
    this.stopped = true;
  }

  /** Runs events until `stop` is called, or none is left, or `timeMax` is passed. To be awaited from outside the simulation. */
  run(timeMax: number = Number.POSITIVE_INFINITY): Promise<void> {
    this.stopped = false;
    return new Promise((resolve, reject) => {
      // Microtasks are drained synchronously only from outside of them: start from a macrotask.
      const pump = (): void => {
        try {
          while (this.step(timeMax)) {
            if (this.tick === undefined) {
              setImmediate(pump);
              return;
            }
            this.tick();
          }
        } catch (error) {
          reject(error as Error);
          return;
        }
        resolve();
      };
      setImmediate(pump);
    });
  }

  private step(timeMax: number): boolean {
    while (!this.stopped) {
      const event = this.heap[0];
      if (event === undefined || event.time > timeMax) return false;
      this.pop();
      if (event.run === null) continue;
      this.now = event.time;
      const context = event.context;
      if (context !== null) {
        if (!context.alive) continue;
        if (context.frozen || context.deferred.length > 0 || context.busyUntil > this.now) {
          context.deferred.push(event);
          this.scheduleWake(context);
          continue;
        }
      }
      this.execute(event);
      return true;
    }
    return false;
  }

  private execute(event: SimEvent): void {
    const context = event.context;
    this.count++;
    this.note(Math.round(this.now * 1000));
    if (context !== null) {
      this.note(context.id);
      if (context.eventCostMs > 0) context.busyUntil = this.now + context.eventCostMs;
    }
    try {
      event.run!();
    } catch (error) {
      this.onError(error, context);
    }
  }

  private scheduleWake(context: Context): void {
    if (context.frozen || context.wakeScheduled || context.deferred.length === 0) return;
    context.wakeScheduled = true;
    this.at(context.busyUntil, null, () => {
      context.wakeScheduled = false;
      if (!context.alive || context.frozen) return;
      const event = context.deferred.shift();
      if (event !== undefined && event.run !== null) this.execute(event);
      this.scheduleWake(context);
    });
  }

  private push(event: SimEvent): void {
    const heap = this.heap;
    let index = heap.length;
    heap.push(event);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!before(event, heap[parent]!)) break;
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = event;
  }

  private pop(): void {
    const heap = this.heap;
    const last = heap.pop()!;
    const length = heap.length;
    if (length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= length) break;
      if (child + 1 < length && before(heap[child + 1]!, heap[child]!)) child++;
      if (!before(heap[child]!, last)) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = last;
  }
}

function before(a: SimEvent, b: SimEvent): boolean {
  return a.time < b.time || (a.time === b.time && a.order < b.order);
}

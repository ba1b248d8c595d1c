/**
 * A running node's part in rule 18: it remembers how far the coordinator was, and ends when others have found that the coordinator was
 * put back: what it knows is asked for when it starts anew.
 */
import type { Clock, Timer } from '../../base/clock.js';
import type { Entry } from '../coordinator/coordinator.js';
import { RestoredKey, type RestoredState } from './reports.js';
import type { CoordinatorMemory } from './coordinator-memory.js';

/** Changes come in bursts, and what is remembered is on disk. */
const saveAfterMs = 1000;

export class CoordinatorWatch {
  private readonly memory: CoordinatorMemory;
  private readonly clock: Clock;
  private readonly restored: () => void;
  private version: number;
  private saving: Timer | undefined;
  private closed = false;

  /** @param restored called once, in the turn in which it is found out. */
  constructor(memory: CoordinatorMemory, clock: Clock, restored: () => void) {
    this.memory = memory;
    this.clock = clock;
    this.restored = restored;
    this.version = memory.coordinator.version;
  }

  /** An entry as the coordinator has it now, or had it lately. */
  seen({ key, value, version }: Entry): void {
    if (this.closed || version === 0) return;
    if (key === RestoredKey.state && this.isNews(JSON.parse(value) as RestoredState)) {
      this.close();
      this.restored();
      return;
    }
    if (version <= this.version) return;
    this.version = version;
    this.saving ??= this.clock.after(saveAfterMs, () => this.save());
  }

  close(): void {
    this.closed = true;
    this.saving?.cancel();
  }

  private isNews(state: RestoredState): boolean {
    return state.number > this.memory.coordinator.restorations;
  }

  private save(): void {
    this.saving = undefined;
    // A disk that fails is noticed by the journal.
    this.memory.setCoordinator({ ...this.memory.coordinator, version: this.version }).catch(() => {});
  }
}

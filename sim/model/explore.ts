/** Breadth-first search through all states of a small model, for the shortest way to one that must not be. */

export interface Model<State> {
  init(): State;
  /** Calls `emit` with each step that is possible, and the state behind it. `state` is not to be changed: see `copy`. */
  next(state: State, emit: (label: string, state: State) => void): void;
  /** What is wrong with the state; '' = nothing. `isEnd`: nothing more can happen. */
  check(state: State, isEnd: boolean): string;
}

export interface Found {
  readonly states: number;
  /** '' = every state was seen, and none is wrong. */
  readonly wrong: string;
  /** The steps to it. */
  readonly steps: readonly string[];
}

/** States are plain objects. */
export function copy<State>(state: State): State {
  return JSON.parse(JSON.stringify(state)) as State;
}

/** Throws if there are more states than `most`: a search that ends early shows nothing. */
export function explore<State>(model: Model<State>, most: number): Found {
  const first = JSON.stringify(model.init());
  const seen = new Map<string, [from: string, label: string]>([[first, ['', '']]]);
  let layer = [first];
  while (layer.length > 0) {
    const following: string[] = [];
    for (const key of layer) {
      const state = JSON.parse(key) as State;
      let count = 0;
      model.next(state, (label, after) => {
        count++;
        const text = JSON.stringify(after);
        if (seen.has(text)) return;
        seen.set(text, [key, label]);
        following.push(text);
      });
      const wrong = model.check(state, count === 0);
      if (wrong !== '') return { states: seen.size, wrong, steps: stepsTo(seen, key) };
    }
    if (seen.size > most) throw new Error(`more than ${most} states`);
    layer = following;
  }
  return { states: seen.size, wrong: '', steps: [] };
}

function stepsTo(seen: ReadonlyMap<string, [from: string, label: string]>, key: string): string[] {
  const steps: string[] = [];
  for (let at = key; ; ) {
    const [from, label] = seen.get(at)!;
    if (from === '') return steps.reverse();
    steps.push(label);
    at = from;
  }
}

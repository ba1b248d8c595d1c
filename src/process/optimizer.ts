import { setFlagsFromString } from 'node:v8';

/**
 * How much V8 may inline into one function, in bytecodes. By default (920 in all, 460 each) the way of a message, some thirty small functions,
 * is cut off in the middle, wherever the budget ends: deliveries took 20 to 60 % longer (docs/benchmarks.md). For a process of its own: inside a
 * program that is the program's decision.
 */
export const inlineFlags: readonly string[] = [
  '--max-inlined-bytecode-size-cumulative=3000',
  '--max-inlined-bytecode-size=1000',
];

/** To be called before the broker's code is loaded. A V8 that does not know a flag says so on standard error, and goes on. */
export function inlineMore(): void {
  for (const flag of inlineFlags) setFlagsFromString(flag);
}

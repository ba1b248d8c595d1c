import { setFlagsFromString } from 'node:v8';

/**
 * V8 looks for hot code as if one broker ran for hours. Here every run is a new cluster whose code is used a little each, and a third of
 * the processor time went into optimizing it, again and again. So functions have to be used more before that.
 */
export function optimizeLater(): void {
  // Bytes of bytecode that are run before a function is looked at (68 KB), and no exception for short ones.
  setFlagsFromString('--interrupt-budget=400000');
  setFlagsFromString('--max-bytecode-size-for-early-opt=0');
}

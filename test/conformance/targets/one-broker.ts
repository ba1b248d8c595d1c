import { LoneBroker } from '../../support/lone-broker.js';
import type { Target } from './target.js';

/** A broker that is alone. */
export async function startOne(): Promise<Target> {
  const broker = await LoneBroker.start();
  return {
    name: 'one broker',
    port: broker.port,
    httpPort: broker.httpPort,
    isOurs: true,
    [Symbol.asyncDispose]: () => broker[Symbol.asyncDispose](),
  };
}

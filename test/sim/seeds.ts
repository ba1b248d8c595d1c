/** Runs of whole clusters in simulated time, one for each seed. A seed that fails is printed, and replays exactly. */
import assert from 'node:assert/strict';
import { createSimProcess } from '../../sim/broker-process.js';
import { Simulation } from '../../sim/simulation.js';
import { optimizeLater } from '../../sim/tiering.js';

optimizeLater();

/** Seeds [from, from + count): nothing may be found. `SEED=n` runs that one alone. */
export async function runSeeds(from: number, count: number): Promise<void> {
  const only = process.env['SEED'];
  const first = only === undefined ? from : Number(only);
  const last = only === undefined ? from + count - 1 : first;
  for (let seed = first; seed <= last; seed++) {
    const { finding, trace, operations, faults } = await new Simulation({
      seed,
      createProcess: createSimProcess,
    }).run();
    assert.equal(
      finding,
      undefined,
      `seed ${seed}: ${finding?.checker}: ${finding?.message}\n${trace}\nreplay: node build/sim/run.js --seed ${seed} --trace`,
    );
    assert.ok(operations >= 500, `seed ${seed} had ${operations} operations only`);
    assert.ok(faults >= 5, `seed ${seed} had ${faults} faults only`);
  }
}

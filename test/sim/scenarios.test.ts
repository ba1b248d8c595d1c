/** Every directed scenario with all rules kept: what it stages must do no harm. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSimProcess } from '../../sim/broker-process.js';
import { scenarios } from '../../sim/scenarios/index.js';
import { Simulation } from '../../sim/simulation.js';
import { optimizeLater } from '../../sim/tiering.js';

optimizeLater();

const seeds = 2;

for (const scenario of scenarios) {
  test(`${scenario.name}: ${seeds} seeds`, async () => {
    for (let seed = 1; seed <= seeds; seed++) {
      const { finding, trace } = await new Simulation({ seed, createProcess: createSimProcess, scenario }).run();
      const replay = `replay: node build/sim/run.js --scenario ${scenario.name} --seed ${seed} --trace`;
      assert.equal(finding, undefined, `seed ${seed}: ${finding?.checker}: ${finding?.message}\n${trace}\n${replay}`);
    }
  });
}

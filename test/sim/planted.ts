/**
 * Planted faults: one rule of replication at a time is left out, and some checker must notice. A rule whose absence nobody
 * notices is either not needed or not tested.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RuleName } from '../../src/base/rules.js';
import { createSimProcess } from '../../sim/broker-process.js';
import { findScenario } from '../../sim/scenarios/index.js';
import { Simulation, type RunOptions } from '../../sim/simulation.js';
import { optimizeLater } from '../../sim/tiering.js';

optimizeLater();

/** Where a rule's absence shows: in runs of this scenario, or of random faults ('' ). */
export interface Planted {
  readonly rule: RuleName;
  readonly scenario: string;
  /** The seed to begin with, where it is known to show late: saves the time, not the proof. */
  readonly from?: number;
}

const seedsMax = 2000;

/** For each: the first seed that finds it, of `seedsMax`. */
export function plantedTests(list: readonly Planted[]): void {
  for (const { rule, scenario, from = 1 } of list) {
    test(`without ${rule}: found by ${scenario === '' ? 'random faults' : scenario}`, async (t) => {
      for (let tried = 0; tried < seedsMax; tried++) {
        const seed = ((from - 1 + tried) % seedsMax) + 1;
        const options: RunOptions = { seed, createProcess: createSimProcess, mutant: rule };
        const run = new Simulation(scenario === '' ? options : { ...options, scenario: findScenario(scenario) });
        const { finding } = await run.run();
        if (finding === undefined) continue;
        t.diagnostic(`seed ${seed}, ${finding.checker}: ${finding.message.split('\n', 1)[0]}`);
        return;
      }
      assert.fail(`not found in ${seedsMax} seeds`);
    });
  }
}

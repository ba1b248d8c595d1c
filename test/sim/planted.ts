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

/** Where a rule's absence shows: in runs of this scenario, or of random faults ('' ). */
export interface Planted {
  readonly rule: RuleName;
  readonly scenario: string;
}

const seedsMax = 2000;

/** For each: the first seed that finds it, of `seedsMax`. */
export function plantedTests(list: readonly Planted[]): void {
  for (const { rule, scenario } of list) {
    test(`without ${rule}: found by ${scenario === '' ? 'random faults' : scenario}`, async (t) => {
      for (let seed = 1; seed <= seedsMax; seed++) {
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

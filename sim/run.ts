/**
 *   node build/sim/run.js [--seed N | --from N --count K] [--scenario NAME] [--mutant RULE] [--kinds NAME,NAME] [--trace]
 *
 * Runs seeds and prints the first that fails: what was found, by which checker, and the last lines of what happened.
 * Exit code 0: all as expected (with --mutant: some seed failed), 1: not.
 */
import { parseArgs } from 'node:util';
import { allRules, type RuleName } from '../src/base/rules.js';
import { createSimProcess } from './broker-process.js';
import { findScenario } from './scenarios/index.js';
import type { KindName } from './workload/kinds.js';
import { Simulation, type RunOptions, type RunResult } from './simulation.js';
import { optimizeLater } from './tiering.js';

function describe(result: RunResult): string {
  const finding = result.finding!;
  return `seed ${result.seed}: ${finding.checker}: ${finding.message}\n${result.trace}\nseed ${result.seed}: ${finding.checker}: ${finding.message}`;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string' },
      from: { type: 'string', default: '1' },
      count: { type: 'string', default: '1' },
      mutant: { type: 'string' },
      scenario: { type: 'string' },
      kinds: { type: 'string' },
      trace: { type: 'boolean', default: false },
    },
  });
  if (values.mutant !== undefined && !(values.mutant in allRules))
    throw new Error(`no rule is called ${values.mutant}`);
  const mutant = values.mutant as RuleName | undefined;
  const kinds = values.kinds?.split(',').filter((name) => name !== '') as KindName[] | undefined;
  const from = Number(values.seed ?? values.from);
  const count = values.seed === undefined ? Number(values.count) : 1;
  const startedAt = performance.now();
  let events = 0;
  for (let seed = from; seed < from + count; seed++) {
    const options: RunOptions = {
      seed,
      createProcess: createSimProcess,
      verbose: values.trace,
      ...(mutant === undefined ? {} : { mutant }),
      ...(kinds === undefined ? {} : { kinds }),
      ...(values.scenario === undefined ? {} : { scenario: findScenario(values.scenario) }),
    };
    const result = await new Simulation(options).run();
    events += result.events;
    if (result.finding !== undefined) {
      console.log(describe(result));
      return mutant === undefined ? 1 : 0;
    }
    if (values.trace) console.log(result.trace);
    if (count === 1) {
      const { hash, operations, faults, simulatedMs } = result;
      console.log(
        `seed ${seed}: ${operations} operations, ${faults} faults, ${(simulatedMs / 1000).toFixed(1)} s simulated, digest ${hash.toString(16)}`,
      );
    }
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const rates = `${count} seeds, ${events} events in ${seconds.toFixed(1)} s, ${((1000 * seconds) / count).toFixed(0)} ms a seed`;
  console.log(mutant === undefined ? `all kept: ${rates}` : `rule ${mutant} broken and not noticed: ${rates}`);
  return mutant === undefined ? 0 : 1;
}

optimizeLater();
process.exitCode = await main();

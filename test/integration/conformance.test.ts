/** The rules of AMQP 0-9-1 and of RabbitMQ's extensions, case by case: test/conformance. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { cases } from '../conformance/cases.js';
import { open } from '../conformance/open.js';
import { check } from '../conformance/run-case.js';
import { startCluster } from '../conformance/targets/cluster.js';
import { startOne } from '../conformance/targets/one-broker.js';
import type { Target } from '../conformance/targets/target.js';

const atOnce = 12;

function conforms(name: string, start: () => Promise<Target>): void {
  describe(`${name} keeps the rules`, { concurrency: atOnce }, () => {
    let target: Target;
    before(async () => {
      target = await start();
    });
    after(() => target[Symbol.asyncDispose]());
    for (const one of cases) it(`${one.title} (${one.source})`, () => check(one, target));
  });
}

conforms('one broker', startOne);
conforms('a cluster of three, through a node that leads nothing,', startCluster);

describe('the lists of cases', () => {
  it('have every title once', () => {
    const titles = cases.map(({ title }) => title);
    assert.deepEqual(
      titles.filter((title, i) => titles.indexOf(title) !== i),
      [],
    );
  });

  it('have as open only what is there', () => {
    const titles = new Set(cases.map(({ title }) => title));
    assert.deepEqual(
      [...open.keys()].filter((title) => !titles.has(title)),
      [],
    );
  });

  it('have every difference that cases show in the protocol guide', async () => {
    const guide = await readFile('docs/protocols/amqp091.md', 'utf8');
    const rows = cases.flatMap(({ difference }) => difference ?? []);
    assert.ok(rows.length > 0);
    const missing = rows.map(({ what, here, rabbitmq }) => `| ${what} | ${here} | ${rabbitmq} |`);
    assert.deepEqual(
      missing.filter((row) => !guide.includes(`\n${row}\n`)),
      [],
    );
  });
});

/** amqplib's own integration tests: against one broker, and through a node of a cluster that leads nothing. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { runSuite, uncovered } from '../../tools/amqplib/suite.js';
import { finished, freePorts, Run, TemporaryFolder } from './support/command.js';

/** Tests that amqplib 2.2.0 has in the files that we run. */
const testCount = 99;

async function assertCovered(port: number, failing: typeof uncovered): Promise<void> {
  const outcomes = await runSuite(port);
  const failed = outcomes.filter(({ error }) => error !== '');
  assert.deepEqual(
    failed.map(({ name }) => name),
    failing.map(({ name }) => name),
    failed.map(({ name, error }) => `${name}: ${error}`).join('\n'),
  );
  assert.equal(outcomes.length, testCount);
}

interface View {
  groups: { id: number; primary: string }[];
}

describe('the integration tests of amqplib', () => {
  it('pass against one broker that calls itself RabbitMQ, all of them', async () => {
    await using folder = await TemporaryFolder.make();
    const port = await freePorts(1);
    const options = [
      'serve',
      '--data',
      folder.path,
      '--amqp',
      `127.0.0.1:${port}`,
      '--product',
      'rabbitmq',
      '--http',
      'off',
      '--log-level',
      'warn',
    ];
    await using run = new Run(options);
    await run.said(/^ready/m);
    await assertCovered(port, []);
  });

  it('pass through a node that is primary of nothing, in a cluster of three, but for those listed', async () => {
    await using folder = await TemporaryFolder.make();
    const first = await freePorts(9);
    const address = (node: number, offset: number): string => `127.0.0.1:${first + node * 3 + offset}`;
    const start = (node: number): Run =>
      new Run([
        ...['serve', '--node', `n${node + 1}`, '--data', join(folder.path, `n${node + 1}`), '--log-level', 'warn'],
        ...['--amqp', address(node, 0), '--http', address(node, 1), '--cluster', address(node, 2)],
        ...['--coordinator', `local:${join(folder.path, 'coordinator')}`, '--lead', node === 2 ? 'false' : 'true'],
      ]);
    // Whoever comes first founds the cluster, and leads all of it at first.
    await using n1 = start(0);
    await n1.said(/^ready/m);
    await using n2 = start(1);
    await using n3 = start(2);
    for (const node of [n2, n3]) await node.said(/^ready/m);
    const status = await finished([
      'status',
      '--url',
      `http://${address(2, 1)}`,
      '--wait',
      '--timeout',
      '30s',
      '--json',
    ]);
    assert.equal(status.code, 0, status.stderr);
    const { groups } = JSON.parse(status.stdout) as View;
    assert.ok(groups.length > 16);
    assert.deepEqual(
      groups.filter(({ primary }) => primary === 'n3'),
      [],
    );
    await assertCovered(first + 6, uncovered);
  });

  it('that cannot pass are listed in the protocol guide, with the reason', async () => {
    const guide = await readFile('docs/protocols/amqp091.md', 'utf8');
    for (const { name, reason } of uncovered) {
      assert.ok(guide.includes(`\`${name}\``), name);
      assert.ok(guide.includes(reason), reason);
    }
  });
});

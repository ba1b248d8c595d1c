/**
 * The programs of examples/rhea in hot standby: both begin at a backup, which sends them to the primary; that is killed, and they go on at the next one,
 * which failover-server-list names. Nothing that was accepted is lost.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ClusterProcesses } from '../support/cluster-processes.js';
import { ExampleProgram } from '../support/example-program.js';

const count = 2000;
const endMsMax = 60_000;

describe('examples/rhea', { timeout: 120_000 }, () => {
  it('follow the redirect of a backup, and the primary’s list when it is killed', async () => {
    const cluster = await ClusterProcesses.start(3, ['--clients', 'primary']);
    const programs: ExampleProgram[] = [];
    let failed = true;
    try {
      const primary = await cluster.primary();
      const backup = cluster.nodes.find((node) => node !== primary)!;
      // Of the cluster they know one node, which serves nobody.
      const start = (name: string): ExampleProgram => {
        const program = ExampleProgram.rhea(name, [backup.amqpUrl], [String(count)]);
        programs.push(program);
        return program;
      };
      const receiver = start('receive');
      const sender = start('send');
      const got = (): RegExpExecArray[] => receiver.matches(/^got (\d+)( redelivered)?$/);
      await receiver.until('a third has come', () => got().length > count / 3, endMsMax);
      await primary.kill();
      await sender.done(endMsMax);
      await receiver.done(endMsMax);
      const numbers = new Set(Array.from({ length: count }, (_, i) => String(i + 1)));
      assert.deepEqual(new Set(sender.matches(/^confirmed (\d+)$/).map(([, number]) => number)), numbers);
      assert.deepEqual(new Set(got().map(([, number]) => number)), numbers);
      const again = new Set(sender.matches(/^again (\d+)$/).map(([, number]) => number));
      const unflagged = got().filter(([, , flag]) => flag === undefined);
      const twice = unflagged.map(([, number]) => number).filter((number, i, all) => all.indexOf(number) < i);
      assert.deepEqual(
        twice.filter((number) => !again.has(number)),
        [],
        'unflagged, and sent once',
      );
      failed = false;
    } finally {
      await Promise.all(programs.map((program) => program.kill()));
      await cluster.close(failed);
    }
  });
});

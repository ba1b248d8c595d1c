/**
 * Large messages beside other clients: a transient one without acknowledgements at 1,000 messages a second, and a durable one with confirms.
 * About five minutes. Prints what is wanted of a machine with nothing else to do, and what was seen; fails at ten times that, but for memory.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { it } from 'node:test';
import { sleep } from '../support/cluster-processes.js';
import { GapProbe } from '../support/gap-probe.js';
import { QueueClient } from '../support/queue-client.js';
import { RateProbe } from '../support/rate-probe.js';
import { withCluster } from '../support/with-cluster.js';

const mebibyte = 1024 * 1024;
const client = fileURLToPath(new URL('../support/large-client.js', import.meta.url));
const wanted = { p99Ms: 50, gapMs: 500 };
const slack = 10;
/** Beside the setting `memory`: buffers of sockets and links, what is on its way to the disk, garbage. */
const beside = 160 * mebibyte;
const memory = 128 * mebibyte;

for (const size of [200, 512])
  it(`messages of ${size} MiB, three in a row`, { timeout: 600_000 }, (t) =>
    withCluster(['--memory', `${memory / mebibyte}MiB`], async (cluster) => {
      const [first, second, third] = cluster.amqpUrls as [string, string, string];
      await using queues = await QueueClient.open(first);
      await queues.declare('durable');
      await using rate = await RateProbe.start('fast', 1000, first, second);
      await using gap = await GapProbe.start('durable', second, third);
      // Until the code is compiled.
      await sleep(5000);
      rate.begin();
      gap.begin();
      await sleep(5000);
      t.diagnostic(`without: p99 ${rate.summary!.p99} ms, longest gap ${Math.round(gap.longestMs)} ms`);
      const before = cluster.nodes.map(({ rssBytes }) => rssBytes);
      rate.begin();
      gap.begin();
      const child = spawn(process.execPath, [client, second, third, 'large', String(size * mebibyte), '3'], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      child.stdout.on('data', (line: Buffer) => t.diagnostic(line.toString().trim()));
      const [code] = await once(child, 'exit');
      assert.equal(code, 0);
      const { p99 } = rate.summary!;
      const gapMs = Math.round(gap.longestMs);
      const grown = cluster.nodes.map(({ rssBytes }, i) => rssBytes - before[i]!);
      t.diagnostic(`p99 ${p99} ms (wanted ${wanted.p99Ms}), longest gap ${gapMs} ms (wanted ${wanted.gapMs})`);
      t.diagnostic(`grown by ${grown.map((bytes) => Math.round(bytes / mebibyte)).join(', ')} MiB`);
      assert.ok(p99 < wanted.p99Ms * slack);
      assert.ok(gapMs < wanted.gapMs * slack);
      for (const bytes of grown) assert.ok(bytes < memory + beside);
    }),
  );

/**
 * The primary of a hot standby cluster is killed under many clients: all are served again soon, with few failed connects. Prints how soon;
 * fails at ten times what is wanted of a machine with nothing else to do. Half a minute.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fetchCluster } from '../../src/cli/api-client.js';
import { describeReconnections, FailoverClients } from '../support/failover-clients.js';
import { withCluster } from '../support/with-cluster.js';

const clients = 1000;
const outageMsMax = 2000;
const slack = 10;
const failedConnectsMax = 2;

test(`${clients} clients are served again within ${outageMsMax} ms`, { timeout: 120_000 }, async (t) => {
  await withCluster(['--clients', 'primary', '--log-level', 'warn'], async (cluster) => {
    const { groups } = await fetchCluster(cluster.nodes[0]!.httpUrl);
    const primary = cluster.node(groups[0]!.primary);
    const crowd = await FailoverClients.start(clients, `127.0.0.1:${primary.ports.amqp}`);
    const reconnections = await crowd.through(() => primary.kill());
    t.diagnostic(`${describeReconnections(reconnections)}; wanted: all within ${outageMsMax} ms`);
    assert.equal(reconnections.length, clients);
    for (const { failedConnects, outageMs } of reconnections) {
      assert.ok(failedConnects <= failedConnectsMax, `${failedConnects} failed connects`);
      assert.ok(outageMs <= outageMsMax * slack, `served again after ${outageMs} ms`);
    }
    crowd.close();
  });
});

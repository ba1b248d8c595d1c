/**
 * Networks that come apart: brokers and members of etcd are hosts of their own, whose packets are lost without a word. Numbered messages
 * go through all brokers all the time; in the end none that was confirmed is missing, and none came twice unflagged.
 */
import '../support/own-network.js';
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { watchFailures } from '../support/all-passed.js';
import { type ClusterProcesses, sleep } from '../support/cluster-processes.js';
import { type EtcdCluster, startEtcdCluster } from '../support/etcd-cluster.js';
import { type Host, Hosts } from '../support/hosts.js';
import type { NodeProcess } from '../support/node-process.js';
import { NumberedRun } from '../support/numbered-run.js';
import { QueueClient } from '../support/queue-client.js';
import { assertFaultless, figures, queueNames } from '../support/verdict.js';

const brokers = 3;
const members = 3;
const leaseMs = 1000;
const [queue] = queueNames('net', 1) as [string];
/** Until others take over from a primary that they do not hear, with time for etcd and a busy machine. */
const takeoverMsMax = 10_000;

describe('partitions', { timeout: 150_000 }, () => {
  const hosts = Hosts.make(brokers + members);
  const etcdHosts = hosts.all.slice(brokers);
  let setup: EtcdCluster;
  let cluster: ClusterProcesses;
  let run: NumberedRun;
  const isWell = watchFailures();

  before(async () => {
    setup = await startEtcdCluster({ options: ['--lease', `${leaseMs}ms`], hosts: hosts.all });
    ({ cluster } = setup);
    run = new NumberedRun(cluster.amqpUrls, [
      ...['--prefix', 'net', '--rate', '100', '--publishers', '4', '--consumers', '4'],
    ]);
    await run.more(100);
  });

  after(async () => {
    run?.kill();
    await setup?.close(isWell());
  });

  const others = (node: NodeProcess): NodeProcess[] => cluster.nodes.filter((other) => other !== node);
  const hostsOf = (nodes: readonly NodeProcess[]): Host[] => nodes.map(({ host }) => host);

  /** The primary of `queue`, and the others, with everything well. */
  async function roles(): Promise<{ primary: NodeProcess; rest: [NodeProcess, NodeProcess] }> {
    const primary = (await cluster.leaderOf(queue))!;
    return { primary, rest: others(primary) as [NodeProcess, NodeProcess] };
  }

  /** It leads nothing any more, says another one. */
  const untilReplaced = async (primary: NodeProcess, asked: NodeProcess): Promise<void> => {
    const what = `${primary.name} is replaced`;
    const leads = { asked, timeoutMs: takeoverMsMax };
    await cluster.untilView(what, ({ groups }) => groups.every((group) => group.primary !== primary.name), leads);
  };

  async function heal(): Promise<void> {
    hosts.heal();
    await cluster.untilComplete();
    await run.more(100);
  }

  it('S92: a primary that is cut off from all confirms nothing once it may have been replaced', async (t) => {
    const { primary, rest } = await roles();
    await using client = await QueueClient.open(primary.amqpUrl);
    // Declared there, so it is led there.
    await client.declare('s92');
    let confirmedAt = 0;
    const publish = setInterval(() => {
      client.channel.sendToQueue('s92', Buffer.from('x'), { persistent: true }, (error) => {
        if (error === null) confirmedAt = performance.now();
      });
    }, 20);
    await sleep(300);
    hosts.cut([primary.host], [...hostsOf(rest), ...etcdHosts]);
    const cutAt = performance.now();
    assert.ok(confirmedAt > 0);
    await untilReplaced(primary, rest[0]);
    const replacedAt = performance.now();
    await sleep(leaseMs);
    clearInterval(publish);
    const [last, replaced] = [confirmedAt - cutAt, replacedAt - cutAt].map(Math.round);
    t.diagnostic(`last confirm ${last} ms after the cut, replaced ${replaced} ms after it`);
    assert.ok(confirmedAt <= replacedAt, 'no confirm after the takeover');
    await heal();
    await client.confirmed();
  });

  it('S92: a primary that the others do not hear, or that does not hear them, is replaced, though it has etcd', async () => {
    for (const direction of ['not heard', 'deaf'] as const) {
      // On a machine that stands still for a second the primary may have waited long enough.
      for (let attempt = 1; ; attempt++) {
        const { primary, rest } = await roles();
        await using client = await QueueClient.open(rest[0].amqpUrl);
        await client.declare(`s92.${direction}`);
        if (direction === 'deaf') hosts.cutOneWay(hostsOf(rest), [primary.host]);
        else hosts.cutOneWay([primary.host], hostsOf(rest));
        const failure = await untilReplaced(primary, rest[0]).then(
          () => client.send(`s92.${direction}`, ['while it is cut']),
          (error: Error) => error,
        );
        await heal();
        if (failure === undefined) break;
        if (attempt === 3) throw failure;
      }
    }
  });

  it('S92: two brokers do not reach each other, and both reach the third', async () => {
    for (const which of ['primary and backup', 'backups'] as const) {
      const { primary, rest } = await roles();
      const [one, two] = which === 'backups' ? rest : [primary, rest[0]];
      hosts.cut([one.host], [two.host]);
      await sleep(2 * leaseMs);
      await heal();
    }
  });

  it('S92: a cable that comes and goes', async () => {
    const { primary, rest } = await roles();
    for (let round = 0; round < 12; round++) {
      hosts.cut([primary.host], hostsOf(round % 2 === 0 ? rest : [rest[round % 2]!]));
      await sleep(80 + 60 * (round % 6));
      hosts.heal();
      await sleep(250 - 20 * (round % 6));
    }
    await heal();
  });

  it('S92: without etcd all goes on; and a takeover while the leader of etcd is cut off', async () => {
    const { primary, rest } = await roles();
    hosts.cut([primary.host], etcdHosts);
    await run.more(100);
    hosts.cut(hostsOf(rest), etcdHosts);
    await sleep(leaseMs);
    await run.more(100);
    hosts.heal();
    const leader = await setup.etcd.leader();
    const host = setup.etcd.hostOf(leader);
    hosts.cut([host], [...etcdHosts, ...hostsOf(cluster.nodes)]);
    await primary.kill();
    await cluster.untilReplaced(queue, primary);
    await primary.start();
    await heal();
  });

  it('S92: nothing confirmed was lost, nothing came twice unflagged', async (t) => {
    const result = await run.finish();
    t.diagnostic(figures(result));
    assertFaultless(result, cluster);
  });
});

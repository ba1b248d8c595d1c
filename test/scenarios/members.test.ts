/** Who leads, who may, and who belongs to the cluster. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { type ClusterView, callApi } from '../../src/cli/api-client.js';
import { watchFailures } from '../support/all-passed.js';
import { type ClusterProcesses, sleep } from '../support/cluster-processes.js';
import { type EtcdCluster, startEtcdCluster } from '../support/etcd-cluster.js';
import type { NodeProcess } from '../support/node-process.js';
import { numbered, QueueClient, textOf } from '../support/queue-client.js';
import { within } from '../support/within.js';

const lease = '700ms';
/** Several times the lease: whoever could take over would have done so. */
const patienceMs = 2500;
const settledMsMax = 20_000;
const mebibyte = 1024 * 1024;

describe('members', { timeout: 150_000 }, () => {
  let setup: EtcdCluster;
  let cluster: ClusterProcesses;
  const isWell = watchFailures();

  before(async () => {
    setup = await startEtcdCluster({ nodes: 4, options: ['--lease', lease], start: false });
    ({ cluster } = setup);
    await Promise.all(cluster.nodes.slice(0, 3).map((node) => node.start()));
    await cluster.untilInSync(cluster.nodes.slice(0, 3));
  });

  after(async () => await setup.close(isWell()));

  const at = async <T>(node: NodeProcess, body: (client: QueueClient) => Promise<T>): Promise<T> => {
    await using client = await QueueClient.open(node.amqpUrl);
    return await body(client);
  };

  const texts = (node: NodeProcess, queue: string): Promise<string[]> =>
    at(node, async (client) => (await client.browse(queue)).map(textOf));

  const systemPrimary = async (): Promise<NodeProcess> => {
    const { groups } = await cluster.untilView('somebody leads', (view) => view.groups.length > 0);
    return cluster.node(groups[0]!.primary);
  };

  /** The first three without some. */
  const firstThree = (...without: NodeProcess[]): NodeProcess[] =>
    cluster.nodes.slice(0, 3).filter((node) => !without.includes(node));

  it('S40, S42: without any queue one of two backups takes each group, and both see the same', async () => {
    const primary = await systemPrimary();
    const survivors = firstThree(primary);
    await primary.kill();
    const led = ({ groups }: ClusterView): boolean => groups.every((group) => group.primary !== primary.name);
    const leaders = async (asked: NodeProcess): Promise<string[]> => {
      const { groups } = await cluster.untilView('all are led', led, { asked });
      return groups.map(({ id, epoch, primary: leader }) => `${id} ${epoch} ${leader}`);
    };
    // A group may be on its way to the other one, so that both lead alike.
    const deadline = performance.now() + settledMsMax;
    for (;;) {
      const [one, other] = await Promise.all(survivors.map(leaders));
      if (isDeepStrictEqual(one, other)) break;
      if (performance.now() > deadline) assert.deepEqual(one, other);
      await sleep(50);
    }
    for (const node of survivors) await at(node, (client) => client.send('s40', [node.name]));
    await primary.start();
    await cluster.untilInSync(firstThree());
    assert.deepEqual(
      await texts(primary, 's40'),
      survivors.map(({ name }) => name),
    );
  });

  const primaryPath = '/api/cluster/groups/1/primary';

  it('S42: of two transfers of one group at once one is the last, and all see the same', async () => {
    const [first, second, third] = firstThree() as [NodeProcess, NodeProcess, NodeProcess];
    await Promise.all(
      [second, third].map(({ name, httpUrl }) =>
        callApi(httpUrl, 'PUT', primaryPath, { body: { node: name }, timeoutMs: 20_000 }).catch(() => {}),
      ),
    );
    const leaders = async (): Promise<string[]> => {
      const views = firstThree().map((asked) => cluster.untilView('any', () => true, { asked }));
      return (await Promise.all(views)).map(({ groups }) => `${groups[1]!.primary} ${groups[1]!.epoch}`);
    };
    const deadline = performance.now() + settledMsMax;
    for (let seen = await leaders(); new Set(seen).size !== 1 || seen[0]!.startsWith(first.name); ) {
      assert.ok(performance.now() < deadline, seen.join('; '));
      await sleep(50);
      seen = await leaders();
    }
    await callApi(first.httpUrl, 'DELETE', primaryPath);
  });

  it('S41: a group is not transferred to a node that is not in sync, and goes there when it is', async () => {
    const [first, , third] = firstThree() as [NodeProcess, NodeProcess, NodeProcess];
    await third.kill();
    await cluster.untilInSync(firstThree(third));
    await cluster.untilView('others lead', (view) => view.groups.every(({ primary }) => primary !== third.name));
    const ask = (): Promise<unknown> =>
      callApi(first.httpUrl, 'PUT', primaryPath, { body: { node: third.name }, timeoutMs: 5000 });
    await assert.rejects(ask(), /not in sync/);
    await third.start();
    await cluster.untilInSync(firstThree());
    await ask();
    await cluster.untilView('it leads', (view) => view.groups[1]!.primary === third.name);
    await callApi(first.httpUrl, 'DELETE', primaryPath);
    await cluster.untilInSync(firstThree());
  });

  it('S39: a backup follows the new primary', async () => {
    await at(cluster.nodes[0]!, (client) => client.send('s39', ['a']));
    const first = (await cluster.leaderOf('s39'))!;
    await first.kill();
    await cluster.untilReplaced('s39', first);
    const second = (await cluster.leaderOf('s39'))!;
    const [third] = firstThree(first, second);
    await at(second, (client) => client.send('s39', ['b']));
    await second.kill();
    await cluster.untilLeads(third!);
    assert.deepEqual(await texts(third!, 's39'), ['a', 'b']);
    await at(third!, (client) => client.take('s39', 1));
    await second.start();
    await cluster.untilInSync([second, third!]);
    await third!.kill();
    await cluster.untilLeads(second);
    assert.deepEqual(await texts(second, 's39'), ['b']);
    await Promise.all([first.start(), third!.start()]);
    await cluster.untilInSync(firstThree());
  });

  it('S41, S46: while who is in sync is frozen or dead, a joiner leads nothing and answers nothing stale', async () => {
    const [ready, joiner, third] = firstThree() as [NodeProcess, NodeProcess, NodeProcess];
    await at(ready, (client) => client.send('s46', ['stale']));
    await Promise.all([joiner.kill(), third.kill()]);
    await cluster.untilLeads(ready);
    await at(ready, async (client) => {
      await client.take('s46', 1);
      await client.send('s46', ['fresh']);
    });

    ready.freeze();
    const started = joiner.start();
    started.catch(() => {});
    await assertLeadsNothing(joiner);
    ready.thaw();
    await within(30_000, 'the joiner is ready', started);
    await cluster.untilInSync([ready, joiner]);
    await joiner.kill();

    // So much that a join takes some seconds.
    await at(ready, (client) =>
      client.send(
        's46',
        Array.from({ length: 48 }, (_, i) => Buffer.alloc(mebibyte, i)),
      ),
    );
    await joiner.start();
    await cluster.untilView(
      'it joins the group of the queue',
      ({ groups }) => groups.some(({ joining }) => joining.some(({ node }) => node === joiner.name)),
      { asked: ready },
    );
    // Frozen first: otherwise a group might be joined between being seen and the kill.
    ready.freeze();
    await sleep(100);
    const { groups } = await cluster.untilView('any', () => true, { asked: joiner });
    const behind = groups.filter(({ inSync }) => !inSync.includes(joiner.name)).map(({ id }) => id);
    await ready.kill();
    assert.ok(behind.length > 0, 'the join was not over');
    await sleep(patienceMs);
    const view = await cluster.untilView('any', () => true, { asked: joiner });
    for (const group of view.groups.filter(({ id }) => behind.includes(id)))
      assert.equal(group.primary, ready.name, `group ${group.id} has no other primary`);
    assert.equal(view.complete, false);
    const client = await QueueClient.open(joiner.amqpUrl);
    const got = within(1000, 'an answer', Promise.resolve(client.channel.get('s46')));
    await assert.rejects(got, /not within 1000 ms/);
    client.cut();

    await ready.start();
    await cluster.untilInSync([ready, joiner]);
    await at(joiner, async (client) => {
      assert.deepEqual(await client.take('s46', 1), ['fresh']);
      assert.equal((await client.channel.checkQueue('s46')).messageCount, 48);
      await client.channel.deleteQueue('s46');
    });
    await third.start();
    await cluster.untilInSync(firstThree());
  });

  /** As long as it has nobody to join. */
  async function assertLeadsNothing(node: NodeProcess): Promise<void> {
    await cluster.untilView('it answers', () => true, { asked: node });
    for (const until = performance.now() + patienceMs; performance.now() < until; await sleep(100)) {
      const view = await cluster.untilView('it answers', () => true, { asked: node });
      assert.ok(view.groups.every(({ primary }) => primary !== node.name));
      assert.equal(view.members.find(({ name }) => name === node.name)?.state ?? 'joining', 'joining');
    }
  }

  it('S47: nodes are killed at any moment of the joins of others: no queue is lost, none comes back', async (t) => {
    const queues = numbered('s47.', 1, 120);
    const [victim, ...others] = firstThree() as [NodeProcess, NodeProcess, NodeProcess];
    await at(victim, async (client) => {
      await Promise.all(queues.map((queue) => client.send(queue, [queue, 'last'])));
    });
    await victim.kill();
    await at(others[0]!, async (client) => {
      await Promise.all(queues.slice(0, 60).map((queue) => client.take(queue, 1)));
      await Promise.all(queues.slice(108).map((queue) => client.channel.deleteQueue(queue)));
    });
    for (let round = 0; round < 2; round++) {
      const killed = others[round % 2]!;
      await victim.start();
      await sleep(round * 90);
      await killed.kill();
      await sleep(round * 60);
      // The joiner may never have been in sync: then only who was killed can go on.
      await Promise.all([killed.start(), victim.kill()]);
      await cluster.untilInSync(others);
      t.diagnostic(`round ${round}: ${killed.name} was killed`);
    }
    await victim.start();
    await cluster.untilInSync(firstThree());
    await Promise.all(others.map((node) => node.kill()));
    await cluster.untilLeads(victim);
    await at(victim, async (client) => {
      const check = async (queue: string, i: number): Promise<void> => {
        if (i >= 108) assert.match(await client.refusal((channel) => channel.checkQueue(queue)), /NOT[-_]FOUND/);
        else assert.deepEqual((await client.browse(queue)).map(textOf), i < 60 ? ['last'] : [queue, 'last']);
      };
      await Promise.all(queues.map(check));
    });
    await Promise.all(others.map((node) => node.start()));
    await cluster.untilInSync(firstThree());
  });

  /** All nodes list all, where they are now, to operators and to clients. */
  async function checkLists(): Promise<void> {
    for (const node of cluster.nodes) {
      const view = await cluster.untilView('all members', ({ members }) => members.length === 4, { asked: node });
      assert.deepEqual(
        view.members.map(({ name, amqp, state }) => [name, amqp, state]),
        cluster.nodes.map(({ name, ports }) => [name, `127.0.0.1:${ports.amqp}`, 'ready']),
      );
      const addresses = await at(node, ({ connection }) => {
        const { serverProperties } = connection.connection as unknown as {
          serverProperties: { 'understudy.addresses': string[] };
        };
        return Promise.resolve(serverProperties['understudy.addresses']);
      });
      assert.deepEqual([...addresses].sort(), cluster.nodes.map(({ ports }) => `127.0.0.1:${ports.amqp}`).sort());
    }
  }

  it('S43: a new member is seen by all, and clients are told of it', async () => {
    await cluster.nodes[3]!.start();
    await cluster.untilComplete();
    await checkLists();
  });

  it('S44: nodes that come back at other addresses are found there, all at once too', async () => {
    const [moved] = cluster.nodes as [NodeProcess];
    await moved.kill();
    await cluster.move(moved);
    await moved.start();
    await cluster.untilComplete();
    await checkLists();
    await cluster.killAll();
    for (const node of cluster.nodes) await cluster.move(node);
    await Promise.all(cluster.nodes.map((node) => node.start()));
    await cluster.untilComplete();
    await checkLists();
    assert.equal((await texts(moved, 's39')).join(), 'b');
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { allRules } from '../../../src/base/rules.js';
import { fullSlices } from '../../../src/base/slices.js';
import { Turn } from '../../../src/base/turn.js';
import { FrameType } from '../../../src/cluster/link/frame-types.js';
import { GroupClient, requestTimeoutMs } from '../../../src/cluster/client/group-client.js';
import { OutboxMemory } from '../../../src/cluster/client/publish-outbox.js';
import { RemoteTie } from '../../../src/cluster/client/remote-tie.js';
import type { Link } from '../../../src/cluster/link/link.js';
import { nobody } from '../../../src/model/broker.js';
import { message } from './world.js';

/** A link that writes down the types of its frames. */
class SlowLink {
  congested = false;
  readonly frames: number[] = [];

  beginFrame(type: number, _group: number, length: number) {
    this.frames.push(type);
    const bytes = new Uint8Array(length);
    return { bytes, view: new DataView(bytes.buffer), offset: 0 };
  }
}

function setup() {
  const put: (() => void)[] = [];
  const clock = { now: 0 };
  const client = new GroupClient(1, {
    boot: 1,
    turn: new Turn((run) => put.push(run)),
    slices: fullSlices((run) => put.push(run)),
    clock: { now: () => clock.now } as never,
    rules: allRules,
    memory: new OutboxMemory(),
    leaseMs: 2000,
    wiringVersion: () => 0,
  });
  const link = new SlowLink();
  const attach = (): void =>
    client.beginAttachment((number) => {
      client.attached(new RemoteTie(link as unknown as Link, 1, number, 1, () => client.touch()));
    });
  const runTurns = (): void => {
    while (put.length > 0) for (const run of put.splice(0)) run();
  };
  const publish = (text: string): void => client.publish(message(text), [7], true, nobody, 0);
  return { client, link, attach, runTurns, publish, clock };
}

describe('questions to a group', () => {
  it('come behind what was published before them, also where the link takes no more for a while', () => {
    const { client, link, attach, runTurns, publish } = setup();
    attach();
    runTurns();
    link.congested = true;
    publish('m1');
    void client.purge(7);
    publish('m2');
    runTurns();
    assert.deepEqual(link.frames, []);
    link.congested = false;
    client.touch();
    runTurns();
    assert.deepEqual(link.frames, [FrameType.publish, FrameType.purge]);
  });

  it('do so at the next attachment too', () => {
    const { client, link, attach, runTurns, publish } = setup();
    publish('m1');
    void client.purge(7);
    link.congested = true;
    attach();
    runTurns();
    assert.deepEqual(link.frames, []);
    link.congested = false;
    client.touch();
    runTurns();
    assert.deepEqual(link.frames, [FrameType.publish, FrameType.purge]);
  });

  it('fail when they are not answered in time; one that takes its time when it has no primary for so long', async () => {
    const { client, attach, clock } = setup();
    attach();
    const to = { vhost: '/', queue: 'q', exchange: 'x', routingKey: undefined };
    const failed: string[] = [];
    client.purge(7).catch(() => failed.push('purge'));
    client.purge(7, to).catch(() => failed.push('reroute'));
    const look = async (afterMs: number): Promise<string[]> => {
      clock.now += afterMs;
      client.expireRequests();
      await Promise.resolve();
      await Promise.resolve();
      return failed.splice(0);
    };
    assert.deepEqual(await look(requestTimeoutMs), ['purge']);
    assert.deepEqual(await look(requestTimeoutMs * 10), []);
    client.detached();
    assert.deepEqual(await look(requestTimeoutMs - 1), []);
    attach();
    assert.deepEqual(await look(requestTimeoutMs - 1), []);
    client.detached();
    assert.deepEqual(await look(requestTimeoutMs), ['reroute']);
  });

  it('are asked at once where everything was sent', () => {
    const { client, link, attach, publish } = setup();
    attach();
    publish('m1');
    void client.purge(7);
    assert.deepEqual(link.frames, [FrameType.publish, FrameType.purge]);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ClusterSubscription, type HolderClient } from '../../../src/cluster/client/subscription.js';
import type { ConsumeRequest } from '../../../src/model/broker.js';

function subscription(events: string[]): ClusterSubscription {
  const client: HolderClient = {
    settle() {},
    port: undefined,
    opened: () => events.push('opened'),
    ended: () => events.push('ended'),
    closed() {},
    takeOver: () => assert.fail('nothing moves'),
  };
  const sink = { deliver() {}, forEachHeld() {}, cancelled: (_: unknown, reason: string) => events.push(reason) };
  const request = { sink, credit: 5, vhost: '/', queue: 'q' } as unknown as ConsumeRequest;
  return new ClusterSubscription(client, 7, 1, request, 0);
}

describe('a subscription', () => {
  for (const [how, end] of [
    ['its queue is deleted', (one: ClusterSubscription) => one.cancelledByService('gone')],
    ['the next primary refuses it', (one: ClusterSubscription) => one.subscribed('gone')],
  ] as const)
    it(`that was just opened ends after its client was told, if ${how}`, async () => {
      const events: string[] = [];
      const one = subscription(events);
      const opening = one.open(1).then(() => events.push('told'));
      one.subscribed('');
      end(one);
      await opening;
      one.grantFirst();
      one.grantFirst();
      assert.deepEqual(events, ['opened', 'told', 'ended', 'gone']);
    });

  it('that was closed meanwhile ends once', async () => {
    const events: string[] = [];
    const one = subscription(events);
    const opening = one.open(1);
    one.subscribed('');
    one.cancelledByService('gone');
    await opening;
    one.close();
    one.grantFirst();
    assert.deepEqual(events, ['opened', 'ended']);
  });
});

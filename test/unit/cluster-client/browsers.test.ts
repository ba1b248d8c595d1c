/** A browser tells each new primary where to go on, and nobody anything else. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { isBrowser, makeSubscription } from '../../../src/cluster/client/browsers.js';
import type { ClusterSubscription, HolderClient } from '../../../src/cluster/client/subscription.js';
import type { ServiceControl } from '../../../src/cluster/client/tie.js';
import type { ConsumeRequest } from '../../../src/model/broker.js';
import type { SubscribeOptions } from '../../../src/model/group-port.js';

function opened(browses: boolean) {
  const said: string[] = [];
  const options: SubscribeOptions[] = [];
  const port = {
    subscribe: (_number: number, queue: number, _version: number, option: SubscribeOptions) => {
      said.push(`subscribe ${queue}`);
      options.push(option);
    },
    browseFrom: (_number: number, position: number) => said.push(`from ${position}`),
    grant() {},
  } as unknown as ServiceControl;
  const client = {
    port,
    settle: (_kind: number, incarnation: number, position: number) => said.push(`settle ${incarnation} ${position}`),
    opened() {},
    ended() {},
    closed() {},
  } as unknown as HolderClient;
  const request = { sink: {}, credit: 5, vhost: '/', queue: 'q', browses } as unknown as ConsumeRequest;
  const one = makeSubscription(client, 7, 3, request, 0);
  one.open(1).catch(() => {});
  one.subscribed('');
  one.grantFirst();
  const after = (): number | undefined => {
    one.subscribe(1);
    return options.at(-1)!.after;
  };
  return { one, said, options, after };
}

const show = (one: ClusterSubscription, position: number, isTaken = true): void => {
  one.delivers(position);
  if (!isTaken) one.release(position);
};

describe('a browsing subscription', () => {
  it('is known by its number', () => {
    assert.ok(isBrowser(opened(true).one.number));
    assert.ok(!isBrowser(opened(false).one.number));
  });

  it('says what its client says of no queue', () => {
    const { one, said } = opened(true);
    one.delivers(5);
    one.ack(5);
    one.requeue(5);
    one.reject(5);
    assert.deepEqual(said.slice(1), ['settle -1 5', 'settle -1 5', 'settle -1 5']);
  });

  it('goes on behind what its client took last', () => {
    const { one, after } = opened(true);
    assert.equal(after(), undefined);
    show(one, 5);
    show(one, 6);
    assert.equal(after(), 6);
  });

  it('goes on from what its client could not take', () => {
    const { one, said, after } = opened(true);
    show(one, 5);
    show(one, 6, false);
    show(one, 7, false);
    assert.deepEqual(said.slice(1), ['from 6', 'from 7']);
    assert.equal(after(), 5);
    show(one, 6);
    assert.equal(after(), 6);
  });

  it('does not wait for what is gone meanwhile', () => {
    const { one, after } = opened(true);
    show(one, 6, false);
    show(one, 9);
    assert.equal(after(), 9);
  });

  it('never passes over anything, whatever its client takes, as links do', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ takes: fc.boolean(), count: fc.integer({ min: 1, max: 4 }) })), (rounds) => {
        const { one, after } = opened(true);
        let taken = 0;
        for (const { takes, count } of rounds) {
          // Of what is under way nothing is taken behind what was not.
          for (let i = 1; i <= count; i++) show(one, taken + i, takes);
          if (takes) taken += count;
          assert.equal(after() ?? 0, taken);
        }
      }),
    );
  });
});

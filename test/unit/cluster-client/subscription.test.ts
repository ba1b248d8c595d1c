import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ClusterSubscription, type HolderClient } from '../../../src/cluster/client/subscription.js';
import type { ServiceControl } from '../../../src/cluster/client/tie.js';
import type { ConsumeRequest } from '../../../src/model/broker.js';
import { queueMoves } from '../../../src/model/group-port.js';

function subscription(events: string[]): ClusterSubscription {
  const client: HolderClient = {
    settle() {},
    modify() {},
    port: undefined,
    opened: () => events.push('opened'),
    ended: () => events.push('ended'),
    closed() {},
    count: () => Promise.reject(new Error('not asked here')),
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

/** One group's side: what is said to its service, and the subscriptions that it has taken over. */
class FakeClient implements HolderClient {
  readonly name: string;
  readonly said: string[];
  readonly taken: ClusterSubscription[] = [];
  port: ServiceControl | undefined;

  constructor(name: string, said: string[]) {
    this.name = name;
    this.said = said;
    const say =
      (what: string) =>
      (_number: number, ...rest: unknown[]): void =>
        void said.push([name, what, ...rest.filter((one) => typeof one === 'number')].join(' '));
    this.port = {
      subscribe: say('subscribe'),
      unsubscribe: say('unsubscribe'),
      grant: say('grant'),
    } as unknown as ServiceControl;
  }

  settle(): void {}
  modify(): void {}
  opened(one: ClusterSubscription): void {
    one.grantFirst();
  }
  ended(): void {
    this.said.push(`${this.name} ended`);
  }
  closed(): void {}
  count(): Promise<never> {
    return Promise.reject(new Error('not asked here'));
  }
  takeOver(incarnation: number, request: ConsumeRequest): ClusterSubscription {
    const one = new ClusterSubscription(this, incarnation, 1, request, 0);
    this.taken.push(one);
    one.subscribe(9);
    return one;
  }
}

describe('a subscription whose queue moves', () => {
  const setUp = (fields: Partial<ConsumeRequest> = {}) => {
    const said: string[] = [];
    const [old, now] = [new FakeClient('old', said), new FakeClient('now', said)];
    const sink = { deliver() {}, forEachHeld() {}, cancelled: (_: unknown, reason: string) => said.push(reason) };
    const request = {
      sink,
      credit: 5,
      vhost: '/',
      queue: 'q',
      consumerTag: 't',
      ...fields,
    } as unknown as ConsumeRequest;
    const one = new ClusterSubscription(old, 7, 1, request, 0);
    const destination = { client: now, incarnation: 8 };
    return { said, old, now, one, destination };
  };
  const opened = (fields: Partial<ConsumeRequest> = {}) => {
    const all = setUp(fields);
    void all.one.open(1);
    all.one.subscribed('');
    all.said.length = 0;
    return all;
  };

  it('goes on there with the credit that is left, when what was on its way has come; what its client says goes along', async () => {
    const { said, now, one, destination } = opened();
    one.move(destination);
    one.credit -= 2;
    one.grant(1);
    assert.deepEqual(said, ['old unsubscribe']);
    one.unsubscribed();
    now.taken[0]!.subscribed('');
    one.grant(3);
    assert.deepEqual(said, ['old unsubscribe', 'old ended', 'now subscribe 8 9', 'now grant 4', 'now grant 3']);
    const cancelled = one.cancel();
    now.taken[0]!.unsubscribed();
    await cancelled;
    assert.deepEqual(said.slice(5), ['now unsubscribe', 'now ended']);
  });

  it('goes on at once where the old group has no primary, and when that is lost meanwhile', () => {
    for (const how of ['none', 'lost'] as const) {
      const { said, old, now, one, destination } = opened();
      if (how === 'none') old.port = undefined;
      one.move(destination);
      if (how === 'lost') one.detached();
      assert.equal(now.taken.length, 1, how);
      assert.equal(said.at(-1), 'now subscribe 8 9');
    }
  });

  it('tells its client when it is refused there', () => {
    const { said, now, one, destination } = opened();
    one.move(destination);
    one.unsubscribed();
    now.taken[0]!.subscribed('in use');
    assert.deepEqual(said.slice(-2), ['now ended', 'in use']);
  });

  it('goes on if the old queue takes it no more, at its opening or later, whether this node knows of the move by then or not', async () => {
    for (const when of ['before', 'after'] as const)
      for (const isNew of [true, false]) {
        const { said, now, one, destination } = isNew ? setUp() : opened();
        const opening = isNew ? one.open(1) : Promise.resolve();
        if (when === 'before' && isNew) one.move(destination);
        one.subscribed(queueMoves);
        if (!(when === 'before' && isNew)) {
          assert.equal(now.taken.length, 0);
          one.move(destination);
        }
        assert.equal(now.taken.length, 1, `${when} ${isNew}`);
        now.taken[0]!.subscribed('');
        await opening;
        assert.equal(said.at(-1), 'now grant 5');
        assert.equal(said.includes('old unsubscribe'), false);
      }
  });

  it('goes on when it is refused while it leaves; and asks again, with its credit, after an attachment, if it knows of no move', () => {
    const leaving = opened();
    leaving.one.move(leaving.destination);
    leaving.one.subscribed(queueMoves);
    assert.equal(leaving.now.taken.length, 0);
    leaving.one.unsubscribed();
    assert.equal(leaving.now.taken.length, 1);
    const { said, one } = opened();
    one.subscribed(queueMoves);
    one.subscribe(6);
    one.grant(2);
    assert.deepEqual(said, ['old subscribe 7 6', 'old grant 2']);
  });

  it('is over when its client ends it on the way', async () => {
    const leaving = opened();
    leaving.one.move(leaving.destination);
    const cancelled = leaving.one.cancel();
    leaving.one.unsubscribed();
    await cancelled;
    assert.deepEqual([leaving.said, leaving.now.taken], [['old unsubscribe', 'old ended'], []]);
    const stranded = opened();
    stranded.one.subscribed(queueMoves);
    await stranded.one.cancel();
    stranded.one.move(stranded.destination);
    assert.deepEqual([stranded.said, stranded.now.taken], [['old ended'], []]);
    const closed = opened();
    closed.one.move(closed.destination);
    closed.one.unsubscribed();
    closed.one.close();
    assert.deepEqual(closed.said.slice(-2), ['now unsubscribe', 'now ended']);
  });

  it('waits for an answer no longer than any other', async () => {
    const { said, one } = setUp();
    const opening = one.open(1);
    one.subscribed(queueMoves);
    one.expire(1);
    await assert.rejects(opening, /has no primary that answers/);
    assert.equal(said.at(-1), 'old ended');
  });

  it('stays, if it is the mover’s own', () => {
    const { said, one, destination } = opened({ stays: true });
    one.move(destination);
    assert.deepEqual(said, []);
  });
});

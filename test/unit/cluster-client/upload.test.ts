import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ClusterRoute } from '../../../src/cluster/client/cluster-route.js';
import type { GroupClient } from '../../../src/cluster/client/group-client.js';
import { UploadBudget } from '../../../src/cluster/client/upload-budget.js';
import { ClusterUpload } from '../../../src/cluster/client/upload.js';
import { MessageParts } from '../../../src/log/record.js';
import type { BodySink, BodySource, PublishOwner } from '../../../src/model/broker.js';

it('a message whose body is lost before it was copied to where the message goes by now is refused', () => {
  const events: string[] = [];
  let reading: BodySink | undefined;
  const source = { read: (sink: BodySink) => void (reading = sink), more() {}, close() {} } as unknown as BodySource;
  const group = (name: string): GroupClient =>
    ({
      bodies: { newUpload: () => 1, uploadEnded() {}, openOwn: () => source },
      publish(parts: MessageParts, _: unknown, __: unknown, owner: PublishOwner, tag: number) {
        events.push(`${name} ${parts.large ? 'message' : parts.bodyLength}`);
        owner.completed(tag);
      },
      refuse: (owner: PublishOwner, tag: number) => owner.refused(tag),
    }) as unknown as GroupClient;
  const route = (client: GroupClient): ClusterRoute =>
    ({ targets: [{ client, incarnations: [1], durable: true }] }) as unknown as ClusterRoute;
  const [before, now] = [route(group('before')), route(group('now'))];
  const settings = { boot: 1, partBytes: 4, budget: new UploadBudget(1024), clock: { now: () => 0 }, published() {} };
  const upload = new ClusterUpload(settings, before.targets, true, { uploadGoesOn() {} });
  upload.write(new Uint8Array(6), 0, 6);
  assert.equal(upload.isAt(now), false);
  reading!.lost('it is gone');
  reading = undefined;
  assert.equal(upload.isAt(now), true);
  assert.equal(reading, undefined);
  const owner: PublishOwner = {
    completed: (tag) => void events.push(`completed ${tag}`),
    refused: (tag) => void events.push(`refused ${tag}`),
  };
  assert.equal(upload.publish(now, new MessageParts(), owner, 7), 1);
  // The last of each is the end of its upload.
  assert.deepEqual(events, ['before 4', 'before 2', 'now 0', 'refused 7', 'before 0']);
});

it('many uploads at once have little on their way each, go on as theirs is safe, and all when most of it is', () => {
  const partBytes = 64 * 1024;
  const budget = new UploadBudget(1024 * 1024);
  const clock = { now: () => 0 };
  const open: [PublishOwner, number][] = [];
  const client = {
    bodies: { newUpload: () => 1, uploadEnded() {} },
    publish: (_: unknown, __: unknown, ___: unknown, owner: PublishOwner, tag: number) => void open.push([owner, tag]),
  } as unknown as GroupClient;
  const { targets } = { targets: [{ client, incarnations: [1], durable: true }] } as unknown as ClusterRoute;
  const goneOn: number[] = [];
  const uploads = [1, 2, 3].map((number) => {
    const owner = { uploadGoesOn: () => void goneOn.push(number) };
    return new ClusterUpload({ boot: 1, partBytes, budget, clock, published() {} }, targets, true, owner);
  });
  const part = new Uint8Array(partBytes);
  // Each has found out that parts are safe at once.
  for (const upload of uploads)
    for (let i = 0; i < 10; i++) {
      upload.write(part, 0, partBytes);
      for (const [owner, tag] of open.splice(0)) owner.completed(tag);
    }
  const written = uploads.map((upload) => {
    for (let count = 0; ; count++) {
      if (upload.isFull) return count;
      upload.write(part, 0, partBytes);
    }
  });
  assert.deepEqual(written, [17, 5, 5], 'parts: the first is alone until there are too many');
  const confirm = (count: number): void => {
    for (const [owner, tag] of open.splice(0, count)) owner.completed(tag);
  };
  confirm(17);
  assert.deepEqual(goneOn, [1], 'what is left is more than half');
  confirm(2);
  assert.deepEqual(
    goneOn.toSorted((a, b) => a - b),
    [1, 2, 3],
  );
  confirm(Number.POSITIVE_INFINITY);
});

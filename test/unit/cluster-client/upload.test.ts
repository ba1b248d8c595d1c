import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ClusterRoute } from '../../../src/cluster/client/cluster-route.js';
import type { GroupClient } from '../../../src/cluster/client/group-client.js';
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
  const settings = { boot: 1, partBytes: 4, published() {} };
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

import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ChannelHost } from '../../../src/amqp091/channel-host.js';
import { LargePublish } from '../../../src/amqp091/large-publish.js';
import { defaultLimits } from '../../../src/amqp091/limits.js';
import { PartialBodies } from '../../../src/amqp091/partial-bodies.js';
import type { Route, Upload } from '../../../src/model/broker.js';

it('a large message more than a connection may send at a time is refused, and its upload given up', () => {
  let open = 0;
  const upload = (): Partial<Upload> => {
    open++;
    return { isFull: false, abort: () => void open-- };
  };
  const partials = new PartialBodies({ ...defaultLimits, uploadsMax: 2 });
  const host = { broker: { upload }, partials } as unknown as ChannelHost;
  const begin = (): LargePublish => LargePublish.begin(host, {} as Route, true, false)!;
  const going = [begin(), begin()];
  assert.throws(begin, { code: 506 });
  assert.equal(open, 2);
  for (const one of going) one.abort();
  assert.equal(open, 0);
  begin().abort();
});

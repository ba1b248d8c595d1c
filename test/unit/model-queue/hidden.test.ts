/** What clients are not shown of a message stays hidden, wherever the message goes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Feature } from '../../../src/base/versions.js';
import { publishRecords } from '../../../src/cluster/client/tie.js';
import { encodeEnqueue, enqueueLength, MessageParts, RecordFlag, versionOf } from '../../../src/log/record.js';
import type { Lsn } from '../../../src/log/lsn.js';
import { type Death, type HeaderCodec, opaqueHeaders } from '../../../src/model/dead-letter/death.js';
import { setDelayed } from '../../../src/model/delay/delayed-record.js';
import { delayedIncarnation, outboxIncarnation } from '../../../src/model/queue/outbox.js';
import { Overflow } from '../../../src/model/queue/queue-traits.js';
import { encodeUnit, unitLength } from '../../../src/model/unit.js';
import { bodies, pass, q, queueWith, subscribe, viewAt } from './service-support.js';
import { messageParts, type TestPrimary } from './support.js';

function message(body: string, isHidden = true): MessageParts {
  const parts = messageParts(body);
  parts.setMeta(Uint8Array.of(1, 0x65, 1, 0x6b));
  parts.hidden = isHidden;
  return parts;
}

/** Bodies in a queue, with `?` behind those of which something is hidden. */
function marked(primary: TestPrimary, queue: Lsn): string[] {
  const positions = primary.state.queue(queue)?.index.positionsAscending(0, 1000) ?? [];
  return bodies(primary, queue).map((body, i) => {
    const { flags } = viewAt(primary, queue, positions[i]!);
    return (flags & RecordFlag.hidden) === 0 ? body : `${body}?`;
  });
}

function recordOf(parts: MessageParts, sequence: number): [Uint8Array, DataView] {
  const bytes = new Uint8Array(enqueueLength(parts, 1));
  const view = new DataView(bytes.buffer);
  encodeEnqueue(bytes, view, 0, parts, [q], true, 1, sequence);
  return [bytes, view];
}

describe('messages of which something is hidden', () => {
  it('are so in their queue, be they published alone, from another node, or by a transaction', () => {
    const { primary, port } = queueWith({});
    port.publish(message('alone'), [q], true, 1, 0);
    const [bytes, view] = recordOf(message('afar'), 2);
    publishRecords(port, bytes, view, 0, bytes.length, 0);
    const messages = [true, false].map((isHidden) => ({
      parts: message('unit', isHidden),
      incarnations: [q],
      durable: true,
    }));
    const unit = new Uint8Array(unitLength(messages, []));
    encodeUnit(unit, new DataView(unit.buffer), 0, messages, [], 1, 3);
    port.transact(unit, new DataView(unit.buffer), 0, 0);
    port.publish(message('plain', false), [q], true, 4, 0);
    primary.run();
    assert.deepEqual(marked(primary, q), ['alone?', 'afar?', 'unit?', 'unit', 'plain']);
  });

  it('can be read only by who knows of it', () => {
    const versions = [true, false].map((isHidden) => versionOf(recordOf(message('m', isHidden), 1)[0], 0));
    assert.deepEqual(versions, [Feature.hidden, 1]);
  });

  it('wait for their time, and go on so', () => {
    const { primary, port } = queueWith({});
    const delayed = new MessageParts();
    for (const [i, isHidden] of [true, false].entries()) {
      setDelayed(delayed, message(`m${i}`, isHidden), 10, '/', 'later');
      port.publish(delayed, [delayedIncarnation], true, i + 1, 0);
    }
    primary.run();
    assert.deepEqual(marked(primary, delayedIncarnation), ['m0?', 'm1']);
    pass(primary, 50);
    assert.deepEqual(marked(primary, outboxIncarnation), ['m0?', 'm1']);
  });

  for (const [what, routingKey, expected] of [
    ['go on so when they die', undefined, ['m1?', 'm2']],
    ['have nothing to hide any more when they die in a queue that names a key', 'grave', ['m1', 'm2']],
  ] as const)
    it(what, () => {
      const deaths: Death[] = [];
      const headers: HeaderCodec = {
        ...opaqueHeaders,
        note: (dead, death) => {
          deaths.push(death);
          return opaqueHeaders.note(dead, death);
        },
      };
      const to = { vhost: '/', queue: 'q', exchange: 'graves', routingKey };
      const traits = { deadLettering: to, lengthMax: 1, overflow: Overflow.rejectPublishDlx };
      const { primary, client, port } = queueWith(traits, { headers });
      port.publish(message('m1'), [q], true, 1, 0);
      primary.run();
      port.publish(message('m2', false), [q], true, 2, 0);
      primary.run();
      subscribe(port, 1, 10);
      primary.run();
      port.reject(q, client.take()[0]!.position);
      primary.run();
      assert.deepEqual(marked(primary, outboxIncarnation).sort(), expected);
      const isReaddressed = routingKey !== undefined;
      assert.deepEqual(
        deaths.map((death) => death.isReaddressed),
        [isReaddressed, isReaddressed],
      );
    });
});

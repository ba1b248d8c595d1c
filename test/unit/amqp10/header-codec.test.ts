import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  ArrayValue,
  Descriptor,
  Described,
  fieldMap,
  MapValue,
  MessageHeader,
  MessageProperties,
  MessageView,
  Scalar,
  symbol,
  type Value,
} from '../../../src/amqp10/codec/index.js';
import { headerCodec10 } from '../../../src/amqp10/header-codec.js';
import { MessageFormat } from '../../../src/log/message-format.js';
import { EnqueueView, encodeEnqueue, enqueueLength, MessageParts } from '../../../src/log/record.js';
import { DeathReason } from '../../../src/model/dead-letter/death.js';
import { bytesOf, encoded, encodedComposite, hexOf } from '../amqp10-codec/support.js';

const section = (code: number, value: Value): Uint8Array =>
  encoded(new Described(new Scalar('ulong', BigInt(code)), value));
const properties = encodedComposite(
  Object.assign(new MessageProperties(), { messageId: new Scalar('ulong', 5n), creationTime: 12_345 }),
);

function record(head: Uint8Array): EnqueueView {
  const parts = new MessageParts();
  parts.format = MessageFormat.amqp10;
  parts.setMeta(bytesOf('01 65 01 6b'));
  parts.setHeader(head);
  parts.setBody(section(Descriptor.data, bytesOf('01')));
  const bytes = new Uint8Array(enqueueLength(parts, 1));
  const view = new DataView(bytes.buffer);
  encodeEnqueue(bytes, view, 0, parts, [1], true, 0, 0);
  return new EnqueueView().set(bytes, view, 0);
}

function message(annotations: Readonly<Record<string, Value>> = {}, header: Partial<MessageHeader> = {}): EnqueueView {
  const head = [encodedComposite(Object.assign(new MessageHeader(), header))];
  if (Object.keys(annotations).length > 0) head.push(section(Descriptor.messageAnnotations, fieldMap(annotations)));
  return record(new Uint8Array(Buffer.concat([...head, properties])));
}

/** A head as it is after the change, before a body. */
function viewOf(head: Uint8Array): MessageView {
  const { bytes, headerStart, bodyStart, bodyLength } = record(head);
  return new MessageView().set(bytes, headerStart, bodyStart + bodyLength);
}

const death = (queue: string, reason: DeathReason, time: number, isReaddressed = false) => ({
  queue,
  reason,
  time,
  isReaddressed,
});

function deathsOf(view: MessageView): [queue: unknown, reason: unknown, count: unknown][] {
  const { elements } = view.annotations().get('x-opt-deaths') as ArrayValue;
  return elements.map((one) => {
    const map = one as MapValue;
    return [map.get('queue'), (map.get('reason') as Scalar).value, (map.get('count') as Scalar).value];
  });
}

describe('heads of messages of AMQP 1.0', () => {
  it('note deaths, the last first, one for each queue and reason', () => {
    const once = headerCodec10.note(
      message({ 'x-mine': true }, { ttl: 9, durable: true, priority: 3 }),
      death('a', DeathReason.expired, 100),
    );
    const view = viewOf(once);
    assert.deepEqual(deathsOf(view), [['a', 'expired', 1n]]);
    assert.deepEqual([view.ttlMs, view.durable, view.priority], [-1, 1, 3]);
    assert.equal(view.annotations().get('x-mine'), true);
    const first = (view.annotations().get('x-opt-deaths') as ArrayValue).elements[0] as MapValue;
    assert.deepEqual(first.get('ttl'), new Scalar('uint', 9));
    assert.deepEqual(first.get('routing-keys'), new ArrayValue('string', ['k']));
    const twice = headerCodec10.note(record(once), death('b', DeathReason.rejected, 200));
    const thrice = viewOf(headerCodec10.note(record(twice), death('a', DeathReason.expired, 300)));
    assert.deepEqual(deathsOf(thrice), [
      ['a', 'expired', 2n],
      ['b', 'rejected', 1n],
    ]);
    assert.equal(thrice.annotations().get('x-first-death-queue'), 'a');
    assert.equal(thrice.annotations().get('x-last-death-queue'), 'a');
    // What stands behind the annotations is as it was.
    assert.equal(hexOf(thrice.bytes.subarray(thrice.propertiesStart, thrice.propertiesEnd)), hexOf(properties));
  });

  it('know a circle: the same queue again, without a rejection since', () => {
    const round = (reasons: [string, DeathReason][]): EnqueueView =>
      reasons.reduce((one, [queue, reason], i) => record(headerCodec10.note(one, death(queue, reason, i))), message());
    assert.ok(headerCodec10.isCircle(round([['a', DeathReason.expired]]), 'a'));
    assert.ok(!headerCodec10.isCircle(round([['a', DeathReason.expired]]), 'b'));
    assert.ok(!headerCodec10.isCircle(round([['a', DeathReason.rejected]]), 'a'));
    const through = round([
      ['a', DeathReason.expired],
      ['b', DeathReason.rejected],
    ]);
    assert.ok(!headerCodec10.isCircle(through, 'a'));
    assert.ok(!headerCodec10.isCircle(message(), 'a'));
  });

  it('lose other keys when the queue names one', () => {
    const keyed = message({ 'x-cc': ['c', new Scalar('int', 1), symbol('d')] });
    assert.deepEqual(headerCodec10.moreKeys(keyed), ['c', 'd']);
    const kept = headerCodec10.note(keyed, death('a', DeathReason.expired, 1));
    assert.deepEqual(headerCodec10.moreKeys(record(kept)), ['c', 'd']);
    const lost = headerCodec10.note(keyed, death('a', DeathReason.expired, 1, true));
    assert.deepEqual(headerCodec10.moreKeys(record(lost)), []);
  });

  it('say that they have been delayed', () => {
    const delayed = headerCodec10.delayed(message({ 'x-delay': new Scalar('int', 50) }, { ttl: 4 }));
    assert.equal(headerCodec10.table(record(delayed))['x-delay'], -50);
    assert.equal(headerCodec10.ttlMs(record(delayed)), 4);
    assert.equal(headerCodec10.ttlMs(message()), undefined);
  });

  it('tell exchanges what they ask for', () => {
    const read = headerCodec10.properties(message());
    assert.deepEqual([read('message_id'), read('correlation_id'), read('timestamp')], ['5', '', '12']);
  });

  it('that make no sense inside are read as if that were not there', () => {
    const broken = section(Descriptor.messageAnnotations, fieldMap({ a: 'b' }));
    // The key is no symbol, nor anything.
    broken[12] = 0x3f;
    const bad = record(broken);
    assert.deepEqual(headerCodec10.table(bad), {});
    assert.deepEqual(headerCodec10.moreKeys(bad), []);
    assert.ok(!headerCodec10.isCircle(bad, 'a'));
    assert.deepEqual(deathsOf(viewOf(headerCodec10.note(bad, death('a', DeathReason.expired, 1)))), [
      ['a', 'expired', 1n],
    ]);
  });
});

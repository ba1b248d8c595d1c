/** What a source's filters are read as; what clients see of them: test/conformance/cases10/filters. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Described, MapValue, Scalar, symbol, type Value } from '../../../src/amqp10/codec/index.js';
import { SourceFilters } from '../../../src/amqp10/source-filters.js';

const code = (low: bigint): Scalar => new Scalar('ulong', 0x468c_0000_0000n + low);
const filters = (...entries: [string, Value][]): SourceFilters =>
  new SourceFilters(new MapValue(entries.map(([name, value]) => [symbol(name), value])));

describe('filters of a source', () => {
  it('are known by code and by symbol', () => {
    for (const descriptor of [code(4n), symbol('apache.org:selector-filter:string')])
      assert.deepEqual(filters(['x', new Described(descriptor, 'a = 1')]).definition, { selector: 'a = 1' });
    for (const descriptor of [code(0n), symbol('apache.org:legacy-amqp-direct-binding:string')])
      assert.deepEqual(filters(['x', new Described(descriptor, symbol('k'))]).definition, { key: 'k' });
    assert.deepEqual(filters(['x', new Described(code(1n), 'a.#')]).definition, { topic: 'a.#' });
    const table = new MapValue([['kind', 'blue']]);
    assert.deepEqual(filters(['x', new Described(code(2n), table)]).definition, { headers: { kind: 'blue' } });
  });

  it('are together what is wanted; of one kind the first', () => {
    const all = filters(
      ['a', new Described(code(4n), 'a = 1')],
      ['b', new Described(code(4n), 'a = 2')],
      ['c', new Described(code(0n), 'key')],
    );
    assert.deepEqual(all.definition, { selector: 'a = 1', key: 'key' });
    assert.deepEqual(
      all.applied!.entries.map(([name]) => (name as Scalar).value),
      ['a', 'c'],
    );
  });

  it('that are not known are passed over', () => {
    for (const value of [
      'a = 1',
      null,
      new Described(code(3n), []),
      new Described(symbol('constructor'), 'x'),
      new Described(new Scalar('double', 1), 'x'),
      new Described('text', 'x'),
      new Described(null, 'x'),
    ]) {
      const none = filters(['x', value]);
      assert.equal(none.definition, undefined);
      assert.equal(none.applied, undefined);
    }
    assert.equal(new SourceFilters(undefined).definition, undefined);
  });

  it('that make no sense are refused', () => {
    for (const [low, value] of [
      [4n, 5],
      [4n, 'a ='],
      [4n, null],
      [0n, []],
      [1n, new MapValue([])],
      [2n, 'text'],
      [1n, 'a.'.repeat(128)],
      [2n, new MapValue(Array.from({ length: 257 }, (_, i) => [`h${i}`, true]))],
    ] as const) {
      const one = typeof value === 'number' ? new Scalar('int', value) : (value as Value);
      assert.throws(() => filters(['x', new Described(code(low), one)]), { condition: 'amqp:invalid-field' });
    }
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Arguments, Decimal, Timestamp } from '../../../src/model/broker.js';
import { HeadersPattern } from '../../../src/model/exchange/headers.js';

const table: [name: string, pattern: Arguments, headers: Arguments, matches: boolean][] = [
  ['all is the default', { a: 1, b: 2 }, { a: 1, b: 2, c: 3 }, true],
  ['all: one differs', { a: 1, b: 2 }, { a: 1, b: 3 }, false],
  ['all: one is missing', { 'x-match': 'all', a: 1, b: 2 }, { a: 1 }, false],
  ['all of nothing', {}, {}, true],
  ['all of nothing but x-match', { 'x-match': 'all' }, { a: 1 }, true],
  ['any: one matches', { 'x-match': 'any', a: 1, b: 2 }, { a: 0, b: 2 }, true],
  ['any: none matches', { 'x-match': 'any', a: 1, b: 2 }, { a: 2, b: 1 }, false],
  ['any of nothing', { 'x-match': 'any' }, { a: 1 }, false],
  ['all: x- is passed over', { 'x-a': 1, b: 2 }, { b: 2 }, true],
  ['any: x- is passed over', { 'x-match': 'any', 'x-a': 1 }, { 'x-a': 1 }, false],
  ['all-with-x: x- counts', { 'x-match': 'all-with-x', 'x-a': 1 }, {}, false],
  ['all-with-x: x- matches', { 'x-match': 'all-with-x', 'x-a': 1 }, { 'x-a': 1 }, true],
  ['any-with-x: x- matches', { 'x-match': 'any-with-x', 'x-a': 1, b: 2 }, { 'x-a': 1 }, true],
  ['any-with-x: x-match itself never does', { 'x-match': 'any-with-x' }, { 'x-match': 'any-with-x' }, false],
  ['whether it is replicated is nobody’s header', { 'x-match': 'all-with-x', 'x-replicate': 'none' }, {}, true],
  ['nor by its other names', { 'qpid.replicate': 'none', a: 1 }, { a: 1 }, true],
  ['void: presence is enough', { a: null }, { a: 'whatever' }, true],
  ['void: absence is not', { a: null }, {}, false],
  ['a void header is no match for a value', { a: 1 }, { a: null }, false],
  ['types differ', { a: '1' }, { a: 1 }, false],
  ['integers of any width', { a: 1 }, { a: 1n }, true],
  ['booleans', { a: true }, { a: true }, true],
  ['a boolean is no number', { a: true }, { a: 1 }, false],
  ['timestamps', { a: new Timestamp(7) }, { a: new Timestamp(7) }, true],
  ['timestamps that differ', { a: new Timestamp(7) }, { a: new Timestamp(8) }, false],
  ['a timestamp and its number', { a: new Timestamp(7) }, { a: 7 }, true],
  ['decimals differ in scale', { a: new Decimal(1, 10) }, { a: new Decimal(0, 1) }, false],
  ['bytes', { a: Uint8Array.of(1, 2) }, { a: Uint8Array.of(1, 2) }, true],
  ['tables in any order', { a: { b: 1, c: [2] } }, { a: { c: [2], b: 1 } }, true],
  ['arrays by order', { a: [1, 2] }, { a: [2, 1] }, false],
  ['names that objects have anyway', { constructor: null }, {}, false],
];

for (const [name, pattern, headers, matches] of table) {
  test(`headers: ${name}`, () => assert.equal(new HeadersPattern(pattern).matches(headers), matches));
}

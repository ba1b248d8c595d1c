import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { topicPattern } from '../../../src/model/selection/topic-pattern.js';

/** The same, tried one way after the other. */
function matches(pattern: readonly string[], key: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return key.length === 0;
  if (first === '#') return matches(rest, key) || (key.length > 0 && matches(pattern, key.slice(1)));
  return key.length > 0 && (first === '*' || first === key[0]) && matches(rest, key.slice(1));
}

describe('a pattern of topics', () => {
  it('matches what the specification says, for all patterns and keys', () => {
    const words = (...some: string[]): fc.Arbitrary<string[]> => fc.array(fc.constantFrom(...some), { maxLength: 6 });
    fc.assert(
      fc.property(words('a', 'b', '*', '#'), words('a', 'b', 'c'), (pattern, key) => {
        assert.equal(topicPattern(pattern.join('.'))(key.join('.')), matches(pattern, key));
      }),
      { numRuns: 1000 },
    );
  });

  it('matches no key that is longer than a routing key can be', () => {
    const pattern = topicPattern('#');
    assert.equal(pattern('a'.repeat(255)), true);
    assert.equal(pattern('a.'.repeat(128)), false);
  });

  it('takes a bounded time for patterns of many #', () => {
    const pattern = topicPattern(Array.from({ length: 60 }, () => '#.a').join('.'));
    assert.equal(pattern(Array.from({ length: 120 }, () => 'b').join('.')), false);
  });
});

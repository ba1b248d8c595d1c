import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { MessageFields, SelectorValue } from '../../../src/model/selection/message-fields.js';
import { Selector } from '../../../src/model/selection/selector.js';
import { SelectorError } from '../../../src/model/selection/selector-error.js';
import { selectorLimits } from '../../../src/model/selection/selector-parser.js';

type Table = Readonly<Record<string, SelectorValue>>;

function message(properties: Table, fields: Table = {}): MessageFields {
  return {
    property: (name) => (Object.hasOwn(properties, name) ? properties[name] : undefined),
    field: (name) => fields[name],
  };
}

/** Unknown is neither: the contrary does not match either. */
function valueOf(text: string, properties: Table = {}, fields: Table = {}): boolean | undefined {
  if (new Selector(text).matches(message(properties, fields))) return true;
  return new Selector(`NOT (${text})`).matches(message(properties, fields)) ? false : undefined;
}

const table: Table = {
  t: true,
  f: false,
  i: 5n,
  d: 2.5,
  s: 'red',
  q: "it's",
  e: '',
  big: 2n ** 62n,
  'a.b': 1n,
  ü: 'x',
};

const cases: readonly [text: string, value: boolean | undefined][] = [
  // comparisons
  ['i = 5', true],
  ['i <> 5', false],
  ['i != 5', false],
  ['i > 4.5', true],
  ['i <= 5.0', true],
  ['d = 2.5', true],
  ['d < 2', false],
  ["s = 'red'", true],
  ["s <> 'blue'", true],
  ["s > 'blue'", false],
  ["q = 'it''s'", true],
  ["e = ''", true],
  ['5 = i', true],
  ['i = 0x5 AND i = 05 AND i = 5L AND i = 5d', true],
  ['i = 50e-1', true],
  ['.5 < d', true],
  ['i = 2. + 3', true],
  // kinds that cannot be compared
  ["i = '5'", false],
  ["i <> '5'", false],
  ['t = 1', false],
  ['t = TRUE', true],
  ['f = true', false],
  ['t <> FALSE', true],
  // what is not there
  ['none = 1', undefined],
  ['none <> 1', undefined],
  ['none IS NULL', true],
  ['none IS NOT NULL', false],
  ['i IS NULL', false],
  ['none BETWEEN 1 AND 2', undefined],
  ['none IN (1)', undefined],
  ['none NOT IN (1)', undefined],
  ["none LIKE '%'", undefined],
  ['none + 1 = 2', undefined],
  // alone
  ['t', true],
  ['f', false],
  ['none', undefined],
  ['s', undefined],
  ['TRUE', true],
  ['(TRUE)', true],
  // ranges and lists
  ['i BETWEEN 5 AND 6', true],
  ['i NOT BETWEEN 6 AND 7', true],
  ['i BETWEEN 1 AND 4 + 1', true],
  ['i BETWEEN none AND 4', false],
  ['i BETWEEN none AND 6', undefined],
  ["s IN ('green', 'red')", true],
  ["s NOT IN ('green')", true],
  ['i IN (1, 5.0)', true],
  ['i IN (-5, +5)', true],
  // patterns
  ["s LIKE 'r%'", true],
  ["s LIKE '_ed'", true],
  ["s LIKE 're'", false],
  ["s LIKE '%e%'", true],
  ["s LIKE '%'", true],
  ["e LIKE '%'", true],
  ["e LIKE '_'", false],
  ["s NOT LIKE 'b%'", true],
  ["i LIKE '5'", undefined],
  ["s LIKE 'r%d%d'", false],
  // calculation, as in Java
  ['i + 1 = 6', true],
  ['i - 1 - 1 = 3', true],
  ['i * 2 + 1 = 11', true],
  ['1 + i * 2 = 11', true],
  ['(1 + i) * 2 = 12', true],
  ['7 / 2 = 3', true],
  ['7.0 / 2 = 3.5', true],
  ['-i = -5', true],
  ['- -i = 5', true],
  ['i / 0 = 1', undefined],
  ['i / 0.0 > 1000', true],
  ['s + 1 = 2', undefined],
  ['big * 4 = 0', true],
  ['9223372036854775807 > big', true],
  ['-9223372036854775808 < big', true],
  // names
  ['a.b = 1', true],
  ['"a.b" = 1', true],
  ["ü = 'x'", true],
  ['i = 5 and not (I = 5) OR true', true],
  ['notanything IS NULL AND ORx IS NULL', true],
  // order of operators
  ['TRUE OR FALSE AND FALSE', true],
  ['NOT FALSE AND FALSE', false],
  ['NOT t = FALSE', true],
  ['(i = 5) = t', true],
];

describe('Selector', () => {
  for (const [text, value] of cases)
    it(`${text} is ${value}`, () => {
      assert.equal(valueOf(text, table), value);
    });

  const three = [true, false, undefined] as const;
  it('AND, OR and NOT have the three values of SQL', () => {
    for (const a of three) {
      for (const b of three) {
        const all = a === false || b === false ? false : a === true && b === true ? true : undefined;
        const any = a === true || b === true ? true : a === false && b === false ? false : undefined;
        assert.equal(valueOf('a AND b', { a, b }), all, `${a} AND ${b}`);
        assert.equal(valueOf('a OR b', { a, b }), any, `${a} OR ${b}`);
      }
      assert.equal(valueOf('NOT a', { a }), a === undefined ? undefined : !a);
    }
  });

  it('an escape character makes % and _ what they are', () => {
    for (const [text, pattern, matches] of [
      ['a_b', "'a\\_b' ESCAPE '\\'", true],
      ['axb', "'a\\_b' ESCAPE '\\'", false],
      ['100%', "'%!%' ESCAPE '!'", true],
      ['100', "'%!%' ESCAPE '!'", false],
      ['!', "'!!' ESCAPE '!'", true],
      ['a.b', "'a_b'", true],
      ['a\nb', "'a%b'", true],
      ['aab', "'%ab'", true],
      ['abcabc', "'%abc'", true],
      ['abab', "'a%b%ab'", true],
    ] as const)
      assert.equal(new Selector(`p LIKE ${pattern}`).matches(message({ p: text })), matches, `${text} ${pattern}`);
  });

  it('LIKE is what a regular expression says', () => {
    const char = fc.constantFrom('a', 'b', '%', '_');
    fc.assert(
      fc.property(fc.array(char, { maxLength: 8 }), fc.array(fc.constantFrom('a', 'b'), { maxLength: 10 }), (p, t) => {
        const expected = new RegExp(`^${p.map((c) => (c === '%' ? '.*' : c === '_' ? '.' : c)).join('')}$`);
        const got = new Selector(`p LIKE '${p.join('')}'`).matches(message({ p: t.join('') }));
        assert.equal(got, expected.test(t.join('')));
      }),
    );
  });

  it("knows JMS's headers and the fields of AMQP", () => {
    const fields = {
      'message-id': 'm',
      'correlation-id': 'c',
      priority: 7n,
      'creation-time': 1000n,
      subject: 'kind',
      durable: true,
      'group-id': 'g',
      'reply-to': 'r',
    };
    for (const text of [
      "JMSMessageID = 'm'",
      "JMSCorrelationID = 'c'",
      'JMSPriority > 6',
      'JMSTimestamp = 1000',
      "JMSType = 'kind'",
      "JMSDeliveryMode = 'PERSISTENT'",
      "JMSXGroupID = 'g'",
      "amqp.message_id = 'm' AND amqp.priority = 7 AND amqp.durable",
      "amqp.reply_to = 'r'",
      '"amqp.creation-time" = 1000',
      'amqp.none IS NULL AND subject IS NULL AND constructor IS NULL',
    ])
      assert.equal(valueOf(text, {}, fields), true, text);
    assert.equal(valueOf("JMSDeliveryMode = 'NON_PERSISTENT'", {}, { durable: false }), true);
  });

  it('asks a message for a name once, and only if it must', () => {
    const asked: string[] = [];
    const counting: MessageFields = {
      field: () => undefined,
      property(name) {
        asked.push(name);
        return 1n;
      },
    };
    const selector = new Selector('a = 1 AND (a = 2 OR b = 1 OR c = 3)');
    assert.ok(selector.matches(counting));
    assert.deepEqual(asked, ['a', 'b']);
    assert.ok(selector.matches(counting));
    assert.deepEqual(asked, ['a', 'b', 'a', 'b']);
  });

  const wrong = [
    '',
    ' ',
    'a =',
    '= 1',
    'a = 1 AND',
    'a = 1 b',
    '(a = 1',
    'a = 1)',
    "a = 'x",
    'a LIKE 5',
    'a LIKE b',
    "a LIKE 'x' ESCAPE 'xy'",
    "a LIKE 'x!y' ESCAPE '!'",
    "a LIKE 'x!' ESCAPE '!'",
    'a IN ()',
    'a IN (b)',
    'a IN (1',
    'a NOT',
    'a NOT = 1',
    'a IS 1',
    'a BETWEEN 1',
    'a BETWEEN 1 OR 2',
    '5',
    "'text'",
    'a + 1',
    '1 AND TRUE',
    'TRUE + 1 = 2',
    "'a' * 2 = 2",
    'NOT 5',
    'a = 09',
    'a = 5x',
    'a = 99999999999999999999',
    'a = #',
    'a = 1; b',
    'a == 1',
    'a = = 1',
    '"',
  ];
  for (const text of wrong)
    it(`refuses ${JSON.stringify(text)}`, () => {
      assert.throws(() => new Selector(text), SelectorError);
    });

  it('has a bound in every direction, and says so', () => {
    const { characters, nodes, depth, names, patterns } = selectorLimits;
    const many = (count: number, of: (i: number) => string, by: string) =>
      Array.from({ length: count }, (_, i) => of(i)).join(by);
    for (const [text, said] of [
      [`a = '${'x'.repeat(characters)}'`, /characters/],
      [many(nodes, () => 'a', ' OR '), /operands/],
      [`a IN (${many(nodes, String, ',')})`, /operands/],
      [`${'('.repeat(depth + 1)}a${')'.repeat(depth + 1)}`, /nested/],
      [`${'('.repeat(10_000)}`, /nested/],
      [`${'NOT '.repeat(depth + 1)}a`, /nested/],
      [`${'- '.repeat(depth + 1)}a = 1`, /nested/],
      [many(names + 1, (i) => `a${i}`, ' OR '), /names/],
      [`a LIKE '${'x'.repeat(patterns + 1)}'`, /patterns/],
      [`a = ${'9'.repeat(5000)}`, /64 bits/],
    ] as const)
      assert.throws(() => new Selector(text), said);
    assert.ok(new Selector(`${'('.repeat(depth)}a${')'.repeat(depth)}`).matches(message({ a: true })));
  });

  it('is read or refused, whatever the text, and never anything else', () => {
    const word = fc.constantFrom(
      ...['a', 'AND', 'OR', 'NOT', 'LIKE', 'IN', 'BETWEEN', 'IS', 'NULL', '(', ')', ',', '=', '-', '*', '1', "'x%'"],
      ...['TRUE', '"', "'", '.', 'ESCAPE', '<>'],
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(word, { maxLength: 12 }).map((words) => words.join(' ')),
        ),
        (text) => {
          let selector: Selector;
          try {
            selector = new Selector(text);
          } catch (error) {
            assert.ok(error instanceof SelectorError);
            return;
          }
          assert.equal(typeof selector.matches(message({ a: 1n })), 'boolean');
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('takes a bounded time for the worst pattern', () => {
    const selector = new Selector(`a LIKE '%${'_a'.repeat(120)}b%'`);
    const start = performance.now();
    assert.equal(selector.matches(message({ a: 'a'.repeat(4096) })), false);
    assert.ok(performance.now() - start < 1000);
    assert.equal(valueOf("a LIKE '%'", { a: 'a'.repeat(4097) }), undefined);
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DefinitionsReader } from '../../../src/management/definitions/reader.js';
import { DefinitionsError, sectionNames } from '../../../src/management/definitions/sections.js';

function read(text: string | Buffer, cuts: readonly number[] = []): Record<string, unknown> {
  const bytes = Buffer.from(text as string);
  const reader = new DefinitionsReader();
  let from = 0;
  for (const to of [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)) {
    reader.read(bytes.subarray(from, to));
    from = to;
  }
  const { rabbitVersion, sections } = reader.end();
  return { rabbitVersion, ...sections };
}

const nothing = Object.fromEntries(sectionNames.map((name) => [name, []]));

test('whatever is JSON is read as JSON.parse does, however it is cut into pieces', () => {
  const item = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom<unknown>('"', '\\', '[{', '}],', { '},"': '\\"' }, [[]], {}, -0.5),
  );
  const sections = fc.dictionary(fc.constantFrom(...sectionNames), fc.array(item, { maxLength: 4 }), { maxKeys: 4 });
  const space = fc.constantFrom<number | string>(0, 1, '\t');
  fc.assert(
    fc.property(sections, space, fc.array(fc.nat(), { maxLength: 12 }), (written, indent, cuts) => {
      const text = JSON.stringify(
        { rabbit_version: '3.10.8', explanation: ['[', { a: '}' }], ...written },
        undefined,
        indent,
      );
      const { rabbit_version: _, explanation: __, ...expected } = JSON.parse(text) as Record<string, unknown>;
      assert.deepEqual(read(text, cuts), { ...nothing, rabbitVersion: '3.10.8', ...expected });
    }),
  );
});

test('each byte may come alone, and a mark of UTF-8 before them', () => {
  const text = '\ufeff {"queues" : [ {"name":"é\\"]"} , 7 ],"users":[]}\n';
  const cuts = Array.from({ length: Buffer.byteLength(text) }, (_, i) => i);
  assert.deepEqual(read(text, cuts), { ...nothing, rabbitVersion: '', queues: [{ name: 'é"]' }, 7] });
});

test('what is no JSON is refused, as JSON.parse does', () => {
  const structure = fc.string({
    unit: fc.constantFrom('{', '}', '[', ']', '"', ',', ':', '1', 'a', ' ', '\\', '"queues"', '"users"'),
    maxLength: 12,
  });
  fc.assert(
    fc.property(structure, (text) => {
      const body = `{"queues":${text}`;
      let isJson = true;
      try {
        JSON.parse(body);
      } catch {
        isJson = false;
      }
      try {
        read(body);
        assert.ok(isJson, `${body} was taken`);
      } catch (error) {
        assert.ok(error instanceof DefinitionsError, String(error));
      }
    }),
    { numRuns: 2000 },
  );
});

test('says where something is wrong', () => {
  const cases: [text: string, reason: RegExp][] = [
    ['', /^it is cut off after 0 bytes, at the beginning/],
    ['{"queues":[1,2,{"a":}]}', /^queues\[2\]: it is no JSON/],
    ['{"queues":[1,]}', /^queues\[1\]: it is no JSON|^at byte 13, queues\[1\]: an object is expected, not "\]"/],
    ['{"queues":[1 2]}', /^queues\[0\]: it is no JSON/],
    ['{"queues":[1]', /^it is cut off after 13 bytes, at queues: a comma, or the end of the object/],
    ['{"queues":[1', /^it is cut off after 12 bytes, queues\[0\]/],
    ['{"queues":[]} x', /^at byte 14, at queues: nothing more is expected, not "x"/],
    ['{"queues" 1}', /^at byte 10, at queues: a colon is expected/],
    ['{queues:[]}', /^at byte 1, at the beginning: a key, or the end of the object is expected, not "q"/],
    ['{"queues":[],}', /a key is expected, not "}"/],
    ['{"nonsense":[]}', /^nonsense: it is not known/],
    ['{"queues":7}', /^queues: a list is expected/],
  ];
  for (const [text, message] of cases) assert.throws(() => read(text), { message }, text);
});

test('nothing may be larger than a bound', () => {
  const large = JSON.stringify({ queues: [{ name: 'x'.repeat(2 ** 20) }] });
  assert.throws(() => read(large), /queues\[0\]: it has more than 1048576 bytes/);
  assert.throws(() => read(large, [1000, 2000]), /queues\[0\]/);
  const reader = new DefinitionsReader();
  reader.read(Buffer.from('{"queues":['));
  const many = Buffer.from(`"${'x'.repeat(1000)}",`.repeat(1000));
  assert.throws(
    () => {
      for (let i = 0; i < 70; i++) reader.read(many);
    },
    (error) => error instanceof DefinitionsError && error.isTooLarge && /more than 67108864 bytes/.test(error.message),
  );
});

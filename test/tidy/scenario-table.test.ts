/** docs/scenarios.md: every scenario and requirement once, and whatever test it names is there. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { readSources } from './sources.js';

const scenarios = 95;
const requirements = 291;

interface Row {
  id: string;
  cell: string;
}

const rows: Row[] = [
  ...readFileSync('docs/scenarios.md', 'utf8').matchAll(/^\| ([Sr]\d+) \| [^|]+ \| ([^|]*) \|$/gm),
].map(([, id, cell]) => ({ id: id!, cell: cell! }));
const ids = new Set(rows.map(({ id }) => id));

/** What stands in a cell without a test must say why. */
const wordPattern = /^(?:open|later|decided|given up): .{3,}/;
const documentPattern = /^(?:docs\/[\w/-]+(?:\.md)?|[A-Z]+\.md)/;

interface Reference {
  path: string;
  quote: string | undefined;
}

/** Tests that a cell names: `folder/file`, with a part of a title in quotes, or without. */
function references(cell: string): Reference[] {
  const found = cell.matchAll(/`((?:unit|integration|scenarios|long|sim|tidy)\/[\w/-]+)`(?: "([^"]+)")?/g);
  return [...found].map(([, name, quote]) => ({ path: pathOf(name!), quote }));
}

function pathOf(name: string): string {
  const paths = [`test/${name}.test.ts`, `${name}.ts`, `test/${name}.ts`];
  return paths.find((path) => existsSync(path)) ?? paths[0]!;
}

/** Numbers at the begin of a title, as in "S39, S40: ...", by file. */
function titledScenarios(): { path: string; id: string }[] {
  return readSources(['test'], ['.test.ts']).flatMap(({ path, text }) =>
    [...text.matchAll(/\b(?:it|test|describe)\(\s*['"`]((?:S\d\d(?:, |: ))+)/g)].flatMap(([, numbers]) =>
      [...numbers!.matchAll(/S\d\d/g)].map(([id]) => ({ path, id: id! })),
    ),
  );
}

describe('the table of scenarios', () => {
  it('has every scenario and every requirement, once, in order', () => {
    const wanted = [
      ...Array.from({ length: scenarios }, (_, i) => `S${String(i + 1).padStart(2, '0')}`),
      ...Array.from({ length: requirements }, (_, i) => `r${i + 1}`),
    ];
    assert.deepEqual(
      rows.map(({ id }) => id),
      wanted,
    );
  });

  it('names a test in each row, another row that does, or why there is none', () => {
    const isEmpty = (part: string): boolean =>
      !documentPattern.test(part) && references(part).length === 0 && !part.split(', ').every((id) => ids.has(id));
    const empty = rows.filter(({ cell }) => {
      const parts = cell.replaceAll(/ "[^"]*"/g, '').split('; ');
      const words = parts.findIndex((part) => wordPattern.test(part));
      return parts.slice(0, words === -1 ? undefined : words).some(isEmpty);
    });
    assert.deepEqual(empty, []);
  });

  it('names files that are there, and titles that stand in them', () => {
    const wrong = rows.flatMap(({ id, cell }) =>
      references(cell)
        .filter(({ path, quote }) => !existsSync(path) || !readFileSync(path, 'utf8').includes(quote ?? ''))
        .map(({ path, quote }) => `${id}: ${path} "${quote ?? ''}"`),
    );
    assert.deepEqual(wrong, []);
  });

  it('names for a scenario the files in which a title begins with its number, and no others without a quotation', () => {
    const titled = new Set(titledScenarios().map(({ path, id }) => `${id}: ${path}`));
    const named = new Set(
      rows
        .filter(({ id }) => id.startsWith('S'))
        .flatMap(({ id, cell }) =>
          references(cell)
            .filter(({ path, quote }) => quote === undefined && path.startsWith('test/'))
            .map(({ path }) => `${id}: ${path}`),
        ),
    );
    assert.deepEqual([...named].sort(), [...titled].sort());
  });
});

/** A file is one noun, a function fits a screen. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { codeFolders, isGenerated, readSources, type Source } from './sources.js';

const fileLinesMax = 500;
const functionLinesMax = 70;

const sources = readSources(codeFolders, ['.ts', '.mjs', '.js']).filter((source) => !isGenerated(source));

/** Beginnings of functions and methods as the formatter leaves them; callbacks of tests are not functions in this sense. */
const functionStart =
  /^(?<indent> *)(?:(?:export |default |async |static |private |protected |public |override |get |set )*(?:function\b.*|(?:const|readonly) \w+.*=> |#?\w+\s*(?:<.*>)?\(.*\).*))\{$/;
const notFunction = /^ *(?:if|for|while|switch|catch|with|else|do|return|await|describe|it|test|suite|before|after)\b/;

function longFunctions(source: Source): string[] {
  const found: string[] = [];
  source.lines.forEach((line, index) => {
    const match = functionStart.exec(line);
    if (match === null || notFunction.test(line)) return;
    const { indent } = match.groups!;
    const end = source.lines.findIndex((other, at) => at > index && new RegExp(`^${indent}\\}`).test(other));
    const length = end - index + 1;
    if (length > functionLinesMax) found.push(`${source.path}:${index + 1} ${length} lines: ${line.trim()}`);
  });
  return found;
}

describe('shape', () => {
  it(`no file is longer than ${fileLinesMax} lines`, () => {
    const long = sources.filter((source) => source.lines.length - 1 > fileLinesMax);
    assert.deepEqual(
      long.map((source) => `${source.path}: ${source.lines.length - 1} lines. Is it still one noun?`),
      [],
    );
  });

  it(`no function is longer than ${functionLinesMax} lines`, () => {
    assert.deepEqual(sources.flatMap(longFunctions), []);
  });
});

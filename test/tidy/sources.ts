import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A file of the repository; tests run in its root. */
export interface Source {
  /** From the root, with slashes: `src/base/ring.ts`. */
  path: string;
  text: string;
  lines: string[];
}

/** Generated code is exempt from rules about its shape. */
export function isGenerated(source: Source): boolean {
  return source.path.includes('/generated/');
}

/** All files under the folders with one of the endings. Folders that do not exist are empty. */
export function readSources(folders: readonly string[], endings: readonly string[]): Source[] {
  const sources: Source[] = [];
  for (const folder of folders) {
    for (const name of listFolder(folder)) {
      const path = join(folder, name).replaceAll('\\', '/');
      if (!endings.some((ending) => path.endsWith(ending))) continue;
      const text = readFileSync(path, 'utf8');
      sources.push({ path, text, lines: text.split('\n') });
    }
  }
  return sources.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true }).map(String);
  } catch {
    return [];
  }
}

export const codeFolders: readonly string[] = ['src', 'sim', 'test', 'bench', 'tools', 'examples'];

export interface Import {
  /** As written: `node:fs`, `pino`, `../base/ring.js`. */
  specifier: string;
  /** Path of the file meant, if it is one of ours: `src/base/ring.ts`. */
  target: string | undefined;
  line: number;
  typeOnly: boolean;
}

const importPattern =
  /^(?:import|export)\b(?<type>\s+type\b)?(?:[^'"`;]*?\bfrom\s*|\s*)['"](?<from>[^'"]+)['"]|\bimport\(\s*['"](?<dynamic>[^'"]+)['"]\s*\)|new URL\(['"](?<url>\.[^'"]+\.js)['"]/gm;

/** Static and dynamic imports, re-exports, and scripts named by URL. */
export function importsOf(source: Source): Import[] {
  const imports: Import[] = [];
  for (const match of source.text.matchAll(importPattern)) {
    const { from, dynamic, url, type } = match.groups!;
    const specifier = from ?? dynamic ?? url!;
    const line = source.text.slice(0, match.index).split('\n').length;
    imports.push({ specifier, target: targetOf(source, specifier), line, typeOnly: type !== undefined });
  }
  return imports;
}

function targetOf(source: Source, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined;
  return join(dirname(source.path), specifier).replaceAll('\\', '/').replace(/\.js$/, '.ts');
}

/** Lines without comments and texts, so that words in them do not count as code. Line by line is enough for formatted code. */
export function codeLines(source: Source): string[] {
  let inComment = false;
  return source.lines.map((line) => {
    if (inComment) {
      inComment = !line.includes('*/');
      return '';
    }
    if (/^\s*\/\*/.test(line)) {
      inComment = !line.includes('*/');
      return '';
    }
    return line.replaceAll(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`/g, "''").replace(/\/\/.*$/, '');
  });
}

import { readFileSync } from 'node:fs';

/** The package's version: the one in package.json, one folder above the compiled code. */
export const version: string = readVersion();

function readVersion(): string {
  for (const path of ['../package.json', '../../package.json']) {
    try {
      const manifest = JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as { version: string };
      return manifest.version;
    } catch {
      // Compiled tests lie one folder deeper.
    }
  }
  return '0.0.0';
}

/** Runs all test files under the folders named, in this process: what starts a process a file takes ten times as long. */
import { importTests } from './import-tests.mjs';

for (const folder of process.argv.slice(2)) await importTests(folder);

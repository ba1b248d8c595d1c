/** Every other file of the unit tests, in one process: the rest is in second.mjs, for the second core. */
import { importTests } from '../import-tests.mjs';

await importTests('build/test/unit', 0, 2);

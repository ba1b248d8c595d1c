/** See first.mjs. */
import { importTests } from '../import-tests.mjs';

await importTests('build/test/unit', 1, 2);

/** A join under load, in small; test/long/join-under-load.test.ts does it with a million messages. */
import { test } from 'node:test';
import { joinUnderLoad } from '../support/join-under-load.js';

test('S68: a node with an empty disk joins under load', { timeout: 150_000 }, (t) =>
  joinUnderLoad(t, { messages: 10_000, rate: 400, quietMs: 2000, awayMs: 1000 }),
);

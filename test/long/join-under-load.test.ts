/**
 * A join with UNDERSTUDY_MESSAGES messages that wait (default 1 million), and UNDERSTUDY_RATE messages a second (20,000); about six
 * minutes, 6 GB of disk. What is asked of it: test/support/join-under-load.ts.
 */
import { test } from 'node:test';
import { joinUnderLoad } from '../support/join-under-load.js';

const messages = Number(process.env['UNDERSTUDY_MESSAGES'] ?? 1_000_000);
const rate = Number(process.env['UNDERSTUDY_RATE'] ?? 20_000);

test(`S68: a node joins under load: ${messages} messages, ${rate}/s`, (t) =>
  joinUnderLoad(t, { messages, rate, quietMs: 15_000, awayMs: 10_000 }));

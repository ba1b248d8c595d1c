/** A soak of half an hour; UNDERSTUDY_SOAK_MINUTES says how long faults go on, UNDERSTUDY_RATE how many messages a second there are (5,000). What is asked of it: test/support/soak/soak.ts. */
import '../support/own-network.js';
import { test } from 'node:test';
import { soak } from '../support/soak/soak.js';

const minutes = Number(process.env['UNDERSTUDY_SOAK_MINUTES'] ?? 30);
const rate = Number(process.env['UNDERSTUDY_RATE'] ?? 5000);

test(`S69, S70, S93, S94: a soak of ${minutes} minutes`, (t) => soak(t, { brokers: 4, forMs: minutes * 60_000, rate }));

/** A soak of half an hour; UNDERSTUDY_SOAK_MINUTES says how long faults go on. What is asked of it: test/support/soak/soak.ts. */
import '../support/own-network.js';
import { test } from 'node:test';
import { soak } from '../support/soak/soak.js';

const minutes = Number(process.env['UNDERSTUDY_SOAK_MINUTES'] ?? 30);

test(`S69, S70, S93, S94: a soak of ${minutes} minutes`, (t) =>
  soak(t, { brokers: 4, forMs: minutes * 60_000, rate: 5000 }));

/** A short soak; the long one is test/long/soak.test.ts. */
import '../support/own-network.js';
import { test } from 'node:test';
import { soak } from '../support/soak/soak.js';

const forMs = 25_000;

test('S69, S70, S93, S94: a short soak', { timeout: 180_000 }, (t) => soak(t, { brokers: 3, forMs, rate: 2000 }));

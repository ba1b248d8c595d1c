import { test } from 'node:test';
import { runSeeds } from './seeds.js';

test('500 seeds from 501', () => runSeeds(501, 500));

import { test } from 'node:test';
import { runSeeds } from './seeds.js';

test('500 seeds from 1', () => runSeeds(1, 500));

/** All cases. */
import type { Case } from './case.js';
import { consuming } from './cases/consuming.js';
import { declarations } from './cases/declarations.js';
import { headers } from './cases/headers.js';
import { lifetimes } from './cases/lifetimes.js';
import { properties } from './cases/properties.js';
import { replyCodes } from './cases/reply-codes.js';
import { routing } from './cases/routing.js';
import { topics } from './cases/topics.js';

export const cases: readonly Case[] = [
  ...topics,
  ...headers,
  ...routing,
  ...replyCodes,
  ...declarations,
  ...properties,
  ...lifetimes,
  ...consuming,
];

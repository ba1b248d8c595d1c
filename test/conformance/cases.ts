/** All cases. */
import type { Case } from './case.js';
import { connections } from './cases/connections.js';
import { consuming } from './cases/consuming.js';
import { deadLetters } from './cases/dead-letters.js';
import { declarations } from './cases/declarations.js';
import { intendedDifferences } from './cases/differing.js';
import { expiry } from './cases/expiry.js';
import { headers } from './cases/headers.js';
import { lengths } from './cases/lengths.js';
import { lifetimes } from './cases/lifetimes.js';
import { prioritiesAndLimits } from './cases/priorities.js';
import { properties } from './cases/properties.js';
import { publishing } from './cases/publishing.js';
import { replyCodes } from './cases/reply-codes.js';
import { replyTo } from './cases/reply-to.js';
import { routing } from './cases/routing.js';
import { topics } from './cases/topics.js';

export const cases: readonly Case[] = [
  ...connections,
  ...topics,
  ...headers,
  ...routing,
  ...replyCodes,
  ...declarations,
  ...properties,
  ...lifetimes,
  ...publishing,
  ...consuming,
  ...expiry,
  ...lengths,
  ...deadLetters,
  ...prioritiesAndLimits,
  ...replyTo,
  ...intendedDifferences,
];

/** All cases. */
import type { Case } from './case.js';
import { connections10 } from './cases10/connections.js';
import { clients10 } from './cases10/clients.js';
import { browsing10 } from './cases10/browsing.js';
import { filters10 } from './cases10/filters.js';
import { management10 } from './cases10/management.js';
import { soleConnections10 } from './cases10/sole-connections.js';
import { webSockets10 } from './cases10/web-sockets.js';
import { largeDeliveries10 } from './cases10/large-deliveries.js';
import { subscriptions10 } from './cases10/subscriptions.js';
import { givingBack10 } from './cases10/giving-back.js';
import { hostile10 } from './cases10/hostile.js';
import { retirement10 } from './cases10/retirement.js';
import { links10, sessions10 } from './cases10/sessions.js';
import { transactions10 } from './cases10/transactions.js';
import { resumption10 } from './cases10/resumption.js';
import { resumptionAndMore10 } from './cases10/resumption-and-more.js';
import { transfers10 } from './cases10/transfers.js';
import { connections } from './cases/connections.js';
import { consuming } from './cases/consuming.js';
import { cutOff } from './cases/cut-off.js';
import { delayed } from './cases/delayed.js';
import { deadLetters } from './cases/dead-letters.js';
import { deathRecords } from './cases/death-records.js';
import { declarations } from './cases/declarations.js';
import { intendedDifferences } from './cases/differing.js';
import { expiry } from './cases/expiry.js';
import { hardErrors } from './cases/hard-errors.js';
import { headers } from './cases/headers.js';
import { lengths } from './cases/lengths.js';
import { lifetimes } from './cases/lifetimes.js';
import { inQuorumQueues } from './cases/quorum.js';
import { noWait } from './cases/no-wait.js';
import { notFound } from './cases/not-found.js';
import { ownQueues } from './cases/own-queues.js';
import { otherExchanges } from './cases/other-exchanges.js';
import { policyCases } from './cases/policies.js';
import { preconditionsFailed } from './cases/preconditions.js';
import { prioritiesAndLimits } from './cases/priorities.js';
import { properties } from './cases/properties.js';
import { publishing } from './cases/publishing.js';
import { refusedAccess } from './cases/refused.js';
import { replyTo } from './cases/reply-to.js';
import { routing } from './cases/routing.js';
import { settling } from './cases/settling.js';
import { sizes } from './cases/sizes.js';
import { topics } from './cases/topics.js';

export const cases: readonly Case[] = [
  ...connections,
  ...topics,
  ...headers,
  ...routing,
  ...otherExchanges,
  ...notFound,
  ...refusedAccess,
  ...preconditionsFailed,
  ...hardErrors,
  ...declarations,
  ...noWait,
  ...properties,
  ...lifetimes,
  ...cutOff,
  ...publishing,
  ...settling,
  ...consuming,
  ...expiry,
  ...lengths,
  ...deadLetters,
  ...deathRecords,
  ...prioritiesAndLimits,
  ...sizes,
  ...delayed,
  ...ownQueues,
  ...policyCases,
  ...replyTo,
  ...inQuorumQueues,
  ...intendedDifferences,
  ...connections10,
  ...sessions10,
  ...links10,
  ...transfers10,
  ...transactions10,
  ...retirement10,
  ...givingBack10,
  ...hostile10,
  ...resumption10,
  ...resumptionAndMore10,
  ...largeDeliveries10,
  ...filters10,
  ...browsing10,
  ...subscriptions10,
  ...clients10,
  ...webSockets10,
  ...management10,
  ...soleConnections10,
];

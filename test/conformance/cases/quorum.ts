/** What holds for classic queues holds for those of the type quorum too; here for all, in RabbitMQ but for some things. */
import type { Case } from '../case.js';
import { type Difference, globalQos, quorumExact, quorumOrder } from '../differences.js';
import { consuming } from './consuming.js';
import { deadLetters } from './dead-letters.js';
import { deathRecords } from './death-records.js';
import { expiry } from './expiry.js';
import { lengths } from './lengths.js';
import { settling } from './settling.js';

const otherwise: readonly { difference: Difference; titles: readonly string[] }[] = [
  {
    difference: quorumOrder,
    titles: [
      ...[1, 2, 3].map((which) => `a requeued message goes back to its place (message ${which} of 3)`),
      'what is requeued in any order comes in the order of the queue',
      'a requeued message is flagged redelivered, others are not',
      'recover gives back all that is out, flagged redelivered, in order',
      'what is requeued over the length goes first, being the oldest',
    ],
  },
  {
    difference: globalQos,
    titles: [
      'with global the limit is of all consumers of the channel',
      'both limits count',
      'a limit of the channel that changes counts at once',
      'a limit of the channel is lifted by 0',
    ],
  },
  {
    difference: quorumExact,
    titles: [
      'basic.get finds what was published before it on the channel, without confirms',
      'a purge takes what was published before it on the channel, without confirms',
      'a time of 0 in the queue: only who waits gets it',
      'a time of 0 in the message: only who waits gets it',
      'an exclusive consumer is refused with 403',
      ...lengths.map(({ title }) => title).filter((title) => title.startsWith('reject-publish')),
    ],
  },
];

const differences: ReadonlyMap<string, Difference> = new Map(
  otherwise.flatMap(({ difference, titles }) => titles.map((title) => [title, difference])),
);

function inQuorumQueue({ title, source, run }: Case): Case {
  const difference = differences.get(title);
  return {
    title: `in quorum queues: ${title}`,
    source,
    ...(difference === undefined ? {} : { difference, onlyOurs: true }),
    run: (session) => {
      session.queueArguments = { 'x-queue-type': 'quorum' };
      return run(session);
    },
  };
}

const both = [...settling, ...consuming, ...expiry, ...lengths, ...deadLetters, ...deathRecords];

export const inQuorumQueues: readonly Case[] = both.map(inQuorumQueue);

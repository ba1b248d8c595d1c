import { plantedTests } from './planted.js';

/** What queues do besides keeping what they are given. */
plantedTests([
  { rule: 'groupsTogether', scenario: 'keyed-queues' },
  { rule: 'groupsNamed', scenario: 'keyed-queues', from: 12 },
  { rule: 'readersTold', scenario: 'choosing', from: 10 },
  { rule: 'newestStays', scenario: 'keyed-queues', from: 4 },
  { rule: 'valuesFound', scenario: 'keyed-queues' },
  { rule: 'lengthKept', scenario: 'bounded-queues', from: 18 },
  { rule: 'fullRefuses', scenario: 'bounded-queues' },
  { rule: 'refusalsTold', scenario: 'bounded-queues' },
  { rule: 'doubtRefuses', scenario: 'bounded-queues', from: 43 },
  { rule: 'othersTake', scenario: 'bounded-queues' },
  { rule: 'returnsLogged', scenario: 'bounded-queues' },
  { rule: 'returnsJoined', scenario: 'bounded-queues', from: 55 },
  { rule: 'returnsLimited', scenario: 'bounded-queues' },
  { rule: 'timeKept', scenario: 'bounded-queues' },
  { rule: 'highestFirst', scenario: 'turns' },
  { rule: 'lanesJoined', scenario: 'turns' },
  { rule: 'oneActive', scenario: 'turns' },
  { rule: 'preferredFirst', scenario: 'turns' },
  { rule: 'unusedGoes', scenario: 'side-ways' },
  { rule: 'useKeeps', scenario: 'side-ways', from: 3 },
  { rule: 'repliesEnd', scenario: 'side-ways' },
  { rule: 'diesInTime', scenario: 'deaths', from: 2 },
  { rule: 'alternateTaken', scenario: 'side-ways' },
]);

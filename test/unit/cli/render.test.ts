import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ClusterView } from '../../../src/cli/api-client.js';
import { renderStatus, renderSummary } from '../../../src/cli/status/render.js';

const view: ClusterView = {
  id: 'c',
  node: 'n1',
  replicas: 2,
  minInSync: 1,
  clients: 'any',
  placement: 'spread',
  protocol: 1,
  complete: false,
  members: [
    { name: 'n1', pid: 11, amqp: '127.0.0.1:5672', http: '127.0.0.1:15672', state: 'ready', protocol: [1, 2] },
    { name: 'n2', pid: 12, amqp: '', http: '', state: 'down', protocol: [1, 1] },
  ],
  groups: [
    { id: 0, epoch: 3, primary: 'n1', inSync: ['n1'], replicas: ['n1', 'n2'], joining: [] },
    {
      id: 1,
      epoch: 1,
      primary: 'n1',
      inSync: ['n1'],
      replicas: ['n1', 'n2'],
      joining: [
        {
          node: 'n2',
          percent: 45,
          queuesDone: 1,
          queues: 4,
          messages: 9,
          bytes: 2048,
          messagesLeft: 12,
          bytesLeft: 4096,
          messagesPerSecond: 2,
          bytesPerSecond: 1024,
          secondsLeft: 6,
        },
        { node: 'n3' },
      ],
    },
  ],
};

it('status for people', () => {
  assert.equal(
    renderStatus(view),
    [
      'NODE  STATE  AMQP            HTTP             PID  PRIMARY  IN SYNC  JOINING',
      'n1    ready  127.0.0.1:5672  127.0.0.1:15672  11   2        2        0',
      'n2    down   -               -                -    0        0        1',
      '',
      'GROUP   EPOCH  PRIMARY  IN SYNC  JOINING',
      'system  3      n1       n1',
      '1       1      n1       n1       n2 45 %, 12 messages, 4.0 KiB left, 1.0 KiB/s, 6 s; n3',
      '',
      'n2 down, 2 of 2 groups short of replicas',
      'protocol version 1; others speak 2, but not n2 (down)',
    ].join('\n'),
  );
});

it('whom groups wait for', () => {
  const standing = { epoch: 2, committed: 9, joining: false, damaged: false, queues: 1 };
  const candidates = ['n3', 'n2'].map((node) => ({ node, ...standing }));
  const group = { id: 0, epoch: 3, primary: 'n1', inSync: [], replicas: ['n1', 'n2', 'n3'], joining: [] };
  const down = { for: [{ node: 'n1', why: 'down' as const }], candidates };
  const other = {
    for: [
      { node: 'n1', why: 'damaged' as const },
      { node: 'n2', why: 'other-store' as const },
    ],
    candidates: [],
  };
  const groups = [
    { ...group, waiting: down },
    ...[1, 2, 5].map((id) => ({ ...group, id, waiting: down })),
    { ...group, id: 3, waiting: other },
    { ...group, id: 4 },
  ];
  assert.equal(
    renderStatus({ ...view, groups }).split('\n\n')[2],
    [
      'Waiting for a member of their last in-sync set:',
      '  system, 1-2, 5: n1 (not up); there are n2, n3 that have some of it',
      '  3: n1 (up, its journal is damaged) or n2 (up, with another data folder); there are none that have some of it',
    ].join('\n'),
  );
});

it('a complete cluster is said to be one', () => {
  const members = [view.members[0]!];
  const complete = { ...view, complete: true, members };
  assert.equal(renderSummary(complete), '1 members ready, 2 groups with all replicas');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explore } from '../../../sim/model/explore.js';
import { allReceiverRules, type ReceiverRules, resumingReceiver } from '../../../sim/model/resuming-receiver.js';
import { allSenderRules, resumingSender, type SenderRules } from '../../../sim/model/resuming-sender.js';

const most = 60_000;
const bounds = { messages: 1, attachments: 1, failovers: 1 };

test('a resuming sender: every message is there once, in every state of the model', () => {
  const found = explore(resumingSender(allSenderRules, bounds), most);
  assert.deepEqual([found.wrong, found.steps], ['', []]);
});

for (const rule of Object.keys(allSenderRules) as (keyof SenderRules)[])
  test(`a resuming sender without the rule ${rule}: a message is lost or doubled`, () => {
    const model = resumingSender({ ...allSenderRules, [rule]: false }, bounds);
    assert.notEqual(explore(model, most).wrong, '');
  });

test('a resuming receiver: every message is worked on once, in every state of the model', () => {
  const found = explore(resumingReceiver(allReceiverRules, { messages: 2, attachments: 1, failovers: 1 }), most);
  assert.deepEqual([found.wrong, found.steps], ['', []]);
});

for (const rule of Object.keys(allReceiverRules) as (keyof ReceiverRules)[])
  test(`a resuming receiver without the rule ${rule}: a message is worked on twice`, () => {
    const model = resumingReceiver(
      { ...allReceiverRules, [rule]: false },
      { messages: 1, attachments: 2, failovers: 1 },
    );
    assert.notEqual(explore(model, most).wrong, '');
  });

/** OASIS, "Enforcing Connection Uniqueness" (SC). */
import assert from 'node:assert/strict';
import { Descriptor, fieldMap, integerOf, Open, textOf, uint } from '../../../src/amqp10/codec/index.js';
import { RawClient10 } from '../../support/raw-client10.js';
import type { Case } from '../case.js';
import { closes, hangsUp } from '../case10.js';
import type { Session } from '../session.js';

const capability = 'sole-connection-for-container';
const refuse = 0;
const closeExisting = 1;

interface Asked {
  policy?: number;
}

type Come = (asked?: Asked) => Promise<RawClient10>;

/** `come` logs in and sends an open of always the same container. */
function soleRule(title: string, body: (come: Come, session: Session) => Promise<void>): Case {
  return {
    title: `sole connection: ${title}`,
    source: 'SC §2',
    onlyOurs: true,
    async run(session) {
      const clients: RawClient10[] = [];
      const containerId = session.name();
      const come: Come = async ({ policy } = {}) => {
        const raw = await RawClient10.dial(session.target.port);
        raw.patienceMs = session.patienceMs;
        clients.push(raw);
        await raw.logIn();
        const open = Object.assign(new Open(), { containerId });
        if (policy !== undefined) {
          open.desiredCapabilities = [capability];
          open.properties = fieldMap({ 'sole-connection-enforcement-policy': uint(policy) });
        }
        raw.send(0, open);
        return raw;
      };
      try {
        await body(come, session);
      } finally {
        for (const raw of clients) raw.end();
      }
    },
  };
}

export const soleConnections10: readonly Case[] = [
  soleRule('is offered to whom it is desired by', async (come) => {
    const open = await (await come({ policy: refuse })).expect(Descriptor.open);
    assert.ok(open.offeredCapabilities?.includes(capability));
    assert.equal(integerOf(open.properties?.get('sole-connection-detection-policy')), 1);
  }),
  soleRule('is nothing to others: a container may have many', async (come) => {
    const [first, second] = [await come(), await come()];
    for (const raw of [first, second]) {
      const open = await raw.expect(Descriptor.open);
      assert.ok(open.offeredCapabilities?.includes(capability) !== true);
      await raw.works();
    }
  }),
  soleRule('refuse-connection closes the newcomer, whatever it asks for', async (come) => {
    const first = await come({ policy: refuse });
    await first.expect(Descriptor.open);
    for (const asked of [{ policy: refuse }, { policy: closeExisting }, {}]) {
      const raw = await come(asked);
      const open = await raw.expect(Descriptor.open);
      assert.equal(open.properties?.get('amqp:connection-establishment-failed'), true);
      const { error } = await raw.expect(Descriptor.close);
      assert.equal(error?.condition, 'amqp:invalid-field');
      assert.equal(textOf(error?.info?.get('invalid-field')), 'container-id');
    }
    await first.works();
  }),
  soleRule('close-existing closes those that are there', async (come) => {
    const [first, second] = [await come(), await come()];
    for (const raw of [first, second]) await raw.expect(Descriptor.open);
    const third = await come({ policy: closeExisting });
    await third.expect(Descriptor.open);
    for (const raw of [first, second]) await closes(raw, 'amqp:resource-locked', /has another connection now/);
    const fourth = await come();
    await fourth.expect(Descriptor.open);
    const { error } = await third.expect(Descriptor.close);
    assert.deepEqual(
      [error?.condition, error?.info?.get('sole-connection-enforcement')],
      ['amqp:resource-locked', true],
    );
    await fourth.works();
  }),
  soleRule('who has gone is not in the way', async (come) => {
    const first = await come({ policy: refuse });
    await first.expect(Descriptor.open);
    await first.close();
    await hangsUp(first);
    const second = await come({ policy: refuse });
    await second.expect(Descriptor.open);
    await second.works();
  }),
];

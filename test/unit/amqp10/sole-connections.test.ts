import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AmqpError, fieldMap, Open, uint } from '../../../src/amqp10/codec/index.js';
import { soleCapability, SoleConnections, type Tenant } from '../../../src/amqp10/sole-connections.js';

class FakeTenant implements Tenant {
  readonly asked = Object.assign(new Open(), { containerId: 'c' });
  readonly user: string;
  readonly vhost: string;
  released = false;
  error: AmqpError | undefined;

  constructor(policy?: number, user = 'one', vhost = '/') {
    this.user = user;
    this.vhost = vhost;
    if (policy === undefined) return;
    this.asked.desiredCapabilities = [soleCapability];
    this.asked.properties = fieldMap({ 'sole-connection-enforcement-policy': uint(policy) });
  }

  fail(error: AmqpError): void {
    this.error = error;
    this.released = true;
  }
}

describe('connections that want to be the only one of their container', () => {
  it('close no other user’s: they are refused', () => {
    const all = new SoleConnections();
    const first = new FakeTenant();
    all.enter(first);
    assert.throws(() => all.enter(new FakeTenant(1, 'another')), { condition: 'amqp:invalid-field' });
    assert.equal(first.error, undefined);
    all.enter(new FakeTenant(1));
    assert.equal(first.error!.condition, 'amqp:resource-locked');
  });

  it('are so in their vhost', () => {
    const all = new SoleConnections();
    all.enter(new FakeTenant(0));
    all.enter(new FakeTenant(0, 'one', 'other'));
    assert.throws(() => all.enter(new FakeTenant(0)), { condition: 'amqp:invalid-field' });
  });

  it('are not kept out by who is about to go, nor by who was refused', () => {
    const all = new SoleConnections();
    const first = new FakeTenant(0);
    const refused = new FakeTenant(0);
    all.enter(first);
    assert.throws(() => all.enter(refused));
    all.leave(refused);
    assert.throws(() => all.enter(new FakeTenant(0)));
    first.released = true;
    const second = new FakeTenant(0);
    all.enter(second);
    all.leave(first);
    assert.throws(() => all.enter(new FakeTenant(0)));
    all.leave(second);
    all.enter(new FakeTenant(0));
  });
});

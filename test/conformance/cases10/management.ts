/** Management over AMQP: OASIS' HTTP over AMQP on a link pair, with the paths and answers of RabbitMQ 4. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { EventContext } from 'rhea';
import { Attach, Descriptor, Detach, fieldMap, MessageView, Source, Target } from '../../../src/amqp10/codec/index.js';
import { Management10 } from '../../support/management10.js';
import { RheaClient } from '../../support/rhea-client.js';
import { within } from '../../support/within.js';
import type { Case } from '../case.js';
import { detaches, sessionRule } from '../case10.js';
import type { Client } from '../client.js';
import { message as messageOf } from '../messages10.js';
import type { Session } from '../session.js';

type Body = (management: Management10, client: Client, session: Session) => Promise<void>;

function managementRule(title: string, body: Body, settles = true): Case {
  return {
    title: `management: ${title}`,
    source: 'RabbitMQ 4',
    onlyOurs: true,
    async run(session) {
      const rhea = await RheaClient.open({ port: session.target.port, patienceMs: session.patienceMs });
      try {
        await body(await Management10.open(rhea, settles), await session.client(), session);
        assert.deepEqual(rhea.errors, []);
      } finally {
        await rhea.close();
      }
    },
  };
}

const quoted = encodeURIComponent;

export const management10: readonly Case[] = [
  managementRule('a queue is declared (201), is there (200), and is described', async (management, client, session) => {
    const queue = `${session.name()}/ä`;
    const path = `/queues/${quoted(queue)}`;
    const asked = { durable: true, exclusive: false, auto_delete: false, arguments: { 'x-max-length': 1000 } };
    const { status, body, message } = await management.request('PUT', path, asked);
    assert.equal(status, 201);
    assert.deepEqual(message.application_properties, { 'http:response': '1.1' });
    const { leader, replicas, ...rest } = body as Record<string, unknown>;
    assert.deepEqual(rest, {
      name: queue,
      vhost: '/',
      durable: true,
      exclusive: false,
      auto_delete: false,
      type: 'classic',
      arguments: { 'x-max-length': 1000 },
      message_count: 0,
      consumer_count: 0,
    });
    assert.ok((replicas as string[]).includes(leader as string));
    await client.send(queue, 'body');
    assert.equal((await management.request('PUT', path, asked)).status, 200);
    const got = await management.request('GET', path);
    assert.deepEqual([got.status, (got.body as Record<string, unknown>)['message_count']], [200, 1]);
    assert.equal((await management.request('DELETE', path)).status, 200);
  }),
  managementRule('a queue that is there otherwise is not declared (409)', async (management, client) => {
    const queue = await client.queue();
    const { status, body } = await management.request('PUT', `/queues/${queue}`, { auto_delete: true });
    assert.deepEqual([status, /auto_delete/.test(String(body))], [409, true], String(body));
  }),
  managementRule('a queue that is not there: 404; deleted, it was not, and purged it cannot be', async (management) => {
    assert.equal((await management.request('GET', '/queues/none')).status, 404);
    assert.deepEqual((await management.request('DELETE', '/queues/none')).body, { message_count: 0 });
    const { status, body } = await management.request('DELETE', '/queues/none/messages');
    assert.equal(status, 400);
    assert.match(String(body), /no queue 'none' in vhost '\/'/);
  }),
  managementRule('a queue is purged, and deleted with what is in it', async (management, client) => {
    const queue = await client.queue();
    for (let i = 0; i < 3; i++) await client.send(queue, 'x');
    const purged = await management.request('DELETE', `/queues/${queue}/messages`);
    assert.deepEqual([purged.status, purged.body], [200, { message_count: 3 }]);
    await client.send(queue, 'x');
    const deleted = await management.request('DELETE', `/queues/${queue}`);
    assert.deepEqual([deleted.status, deleted.body], [200, { message_count: 1 }]);
  }),
  managementRule('an exclusive queue is the connection’s own', async (management, client, session) => {
    const path = `/queues/${session.name()}`;
    assert.equal((await management.request('PUT', path, { exclusive: true })).status, 201);
    const rhea = await RheaClient.open({ port: session.target.port });
    const other = await Management10.open(rhea);
    assert.equal((await other.request('DELETE', path)).status, 400);
    await rhea.close();
    assert.equal((await management.request('DELETE', path)).status, 200);
  }),
  managementRule('exchanges are declared and deleted', async (management, client, session) => {
    const path = `/exchanges/${session.name()}`;
    assert.equal((await management.request('PUT', path, { type: 'fanout' })).status, 204);
    assert.equal((await management.request('PUT', path, { type: 'fanout' })).status, 204);
    assert.equal((await management.request('PUT', path, { type: 'topic' })).status, 409);
    assert.equal((await management.request('DELETE', path)).status, 204);
    assert.equal((await management.request('DELETE', path)).status, 204);
  }),
  managementRule('what nobody may is forbidden (403)', async (management) => {
    assert.equal((await management.request('PUT', '/queues/amq.mine', {})).status, 403);
    assert.equal((await management.request('PUT', '/exchanges/', {})).status, 403);
    assert.equal((await management.request('DELETE', '/exchanges/amq.topic')).status, 403);
    assert.equal((await management.request('POST', '/bindings', { source: '', destination_queue: 'q' })).status, 403);
  }),
  managementRule(
    'bindings without arguments are made, listed, and unbound by their path',
    async (management, client) => {
      const queue = await client.queue();
      const binding = { source: 'amq.topic', destination_queue: queue, binding_key: 'a.#', arguments: {} };
      assert.equal((await management.request('POST', '/bindings', binding)).status, 204);
      const query = `/bindings?src=amq.topic&dstq=${queue}&key=${quoted('a.#')}`;
      const listed = await management.request('GET', query);
      const location = `/bindings/src=amq.topic;dstq=${queue};key=a.%23;args=`;
      assert.deepEqual([listed.status, listed.body], [200, [{ ...binding, location }]]);
      for (let i = 0; i < 2; i++) assert.equal((await management.request('DELETE', location)).status, 204);
      assert.deepEqual((await management.request('GET', query)).body, []);
    },
  ),
  managementRule('bindings that differ in their arguments are told apart', async (management, client) => {
    const queue = await client.queue();
    const of = (colour: string): Record<string, unknown> => ({ 'x-match': 'all', colour });
    for (const colour of ['red', 'blue'])
      await management.request('POST', '/bindings', {
        source: 'amq.headers',
        destination_queue: queue,
        arguments: of(colour),
      });
    const query = `/bindings?src=amq.headers&dstq=${queue}&key=`;
    const listed = (await management.request('GET', query)).body as { arguments: object; location: string }[];
    const red = listed.find(({ arguments: table }) => 'colour' in table && table.colour === 'red');
    assert.equal((await management.request('DELETE', red!.location)).status, 204);
    const [left, ...more] = (await management.request('GET', query)).body as typeof listed;
    assert.deepEqual([left!.arguments, more.length], [of('blue'), 0]);
  }),
  managementRule('exchanges are bound to exchanges', async (management, client, session) => {
    const to = session.name();
    await management.request('PUT', `/exchanges/${to}`, {});
    const binding = { source: 'amq.direct', destination_exchange: to, binding_key: 'k' };
    assert.equal((await management.request('POST', '/bindings', binding)).status, 204);
    assert.equal((await management.request('DELETE', `/bindings/src=amq.direct;dste=${to};key=k;args=`)).status, 204);
    assert.equal((await management.request('DELETE', `/exchanges/${to}`)).status, 204);
  }),
  managementRule('what makes no sense is told (400, 404), and the links go on', async (management) => {
    const wrong: [string, string, Record<string, unknown> | null, number, RegExp][] = [
      ['PUT', '/queues/q', null, 400, /body of a queue is a map/],
      ['PUT', '/queues/q', { durable: 'yes' }, 400, /durable of a queue/],
      ['PUT', '/queues/q', { colour: 'red' }, 400, /no field colour/],
      ['PUT', '/queues/', {}, 400, /needs a name/],
      ['PUT', '/queues/%zz', {}, 400, /percent-encoded/],
      ['PUT', '/exchanges/e', { type: 'none' }, 400, /unknown exchange type 'none'/],
      ['DELETE', '/bindings/nonsense', null, 400, /is no binding/],
      ['GET', '/bindings?src=e', null, 400, /src, key/],
      ['POST', '/bindings', { source: 'amq.topic', destination_queue: 'none' }, 400, /no queue 'none'/],
      ['PATCH', '/queues/q', null, 404, /there is no PATCH/],
    ];
    for (const [method, to, body, status, text] of wrong) {
      const answer = await management.request(method, to, body);
      assert.equal(answer.status, status, `${method} ${to}`);
      assert.match(String(answer.body), text);
    }
  }),
  managementRule(
    'requests that are not settled are accepted, and answered in their order',
    async (management, client, session) => {
      const path = `/queues/${session.name()}`;
      const all = [management.request('PUT', path, {})];
      for (let i = 0; i < 40; i++) all.push(management.request('GET', path));
      all.push(management.request('DELETE', path), management.request('GET', path));
      const statuses = (await Promise.all(all)).map(({ status }) => status);
      assert.deepEqual(statuses, [201, ...Array.from({ length: 40 }, () => 200), 200, 404]);
    },
    false,
  ),
  {
    title: 'management: what the user may not do ends the session',
    source: 'RabbitMQ 4',
    onlyOurs: true,
    async run({ target, management: http, patienceMs }) {
      const user = 'may-read';
      await http.ask('PUT', `users/${user}`, { password: user, tags: '' });
      await http.ask('PUT', `permissions/%2F/${user}`, { configure: '^$', write: '^$', read: '.*' });
      const rhea = await RheaClient.open({ port: target.port, patienceMs, more: { username: user, password: user } });
      try {
        const management = await Management10.open(rhea);
        assert.equal((await management.request('GET', '/queues/none')).status, 404);
        const ended = once(rhea.connection, 'session_error');
        management.request('PUT', '/queues/q', {}).catch(() => {});
        const [{ session }] = (await within(patienceMs, 'the session ends', ended)) as [EventContext];
        const { condition, description } = session!.error as { condition: string; description: string };
        assert.equal(condition, 'amqp:unauthorized-access');
        assert.match(description, /configure access to queue 'q'/);
      } finally {
        await rhea.close();
        await http.ask('DELETE', `users/${user}`);
      }
    },
  },
  sessionRule('Link pair §2.1', 'requests need a link for their answers', async (raw) => {
    await raw.sender('/management');
    raw.transfer(requestOf('GET', '/queues/q'), { settled: true });
    await detaches(raw, 'amqp:precondition-failed', /no link/);
  }),
  sessionRule('HTTP over AMQP §5.1', 'a message that is no request detaches the link', async (raw) => {
    await raw.sender('/management');
    await pairedReceiver(raw, 0);
    raw.transfer(messageOf('no request'), { settled: true });
    await detaches(raw, 'amqp:invalid-field', /a request has a method/);
  }),
  sessionRule('AMQP 1.0 §2.6.7', 'answers wait for credit, and requests for answers', async (raw) => {
    const { linkCredit } = await raw.sender('/management', { name: 'pair', handle: 0 });
    await pairedReceiver(raw, 0);
    for (let i = 0; i < linkCredit!; i++) raw.transfer(requestOf('GET', '/queues/none'), { settled: true });
    await raw.works(78);
    assert.ok(raw.isQuiet);
    raw.flow({ handle: 1, deliveryCount: 0, linkCredit: linkCredit! });
    const view = new MessageView();
    let answers = 0;
    let flows = 0;
    while (answers < linkCredit!) {
      const { body, payload } = await raw.next();
      if (body?.descriptor === Descriptor.flow) flows++;
      else if (body?.descriptor === Descriptor.transfer) {
        answers++;
        view.set(new Uint8Array(payload), 0, payload.length);
        assert.equal(view.properties()?.subject, '404');
        assert.equal(body.settled, true);
      }
    }
    assert.ok(flows >= 1);
  }),
  sessionRule('AMQP 1.0 §2.6.7', 'as much credit as can be said is credit for answers', async (raw) => {
    await raw.sender('/management', { name: 'pair', handle: 0 });
    await pairedReceiver(raw, 0xffff_ffff);
    raw.transfer(requestOf('GET', '/queues/none'), { settled: true });
    await raw.expect(Descriptor.transfer);
  }),
  sessionRule('Link pair §2.1', 'answers that nobody took hold up no requests for good', async (raw) => {
    const { linkCredit } = await raw.sender('/management', { name: 'pair', handle: 0 });
    await pairedReceiver(raw, 0);
    for (let i = 0; i < linkCredit!; i++) raw.transfer(requestOf('GET', '/queues/none'), { settled: true });
    await raw.works(78);
    raw.send(0, Object.assign(new Detach(), { handle: 1, closed: true }));
    await raw.expect(Descriptor.detach);
    assert.ok((await raw.expect(Descriptor.flow)).linkCredit! > 0);
  }),
];

function requestOf(method: string, to: string): Uint8Array {
  return messageOf('', { properties: { messageId: 'm', subject: method, to, replyTo: '$me' }, body: null });
}

async function pairedReceiver(raw: Parameters<typeof detaches>[0], credit: number): Promise<void> {
  const attach = Object.assign(new Attach(), {
    name: 'pair',
    handle: 1,
    role: true,
    source: Object.assign(new Source(), { address: '/management' }),
    target: new Target(),
    properties: fieldMap({ paired: true }),
  });
  raw.send(0, attach);
  await raw.expect(Descriptor.attach);
  if (credit > 0) raw.flow({ handle: 1, deliveryCount: 0, linkCredit: credit });
}

/** What is refused, with which code, and whether it costs the channel or the connection: rows of tables, and the cases of them. */
import assert from 'node:assert/strict';
import { type Method, MethodId } from '../../src/amqp091/codec/index.js';
import { type Case, wireRule } from './case.js';
import { declareExchange } from './methods.js';
import type { Session } from './session.js';
import { assertBlamed, type Wire } from './wire.js';

/** What a row may use. */
export interface Things {
  wire: Wire;
  /** A durable queue that is there. */
  queue: string;
  /** A direct exchange that is there. */
  exchange: string;
  /** A name that nobody has. */
  none: string;
}

export interface Row {
  code: number;
  source: string;
  what: string;
  /** The method that is to blame. */
  blames: number;
  /** As RabbitMQ writes it, with QUEUE, EXCHANGE, NONE for names; as far as it is the same for all brokers. */
  text?: string;
  send: (things: Things) => Method | readonly Method[] | Promise<Method | readonly Method[]>;
}

export async function makeThings(wire: Wire, session: Session): Promise<Things> {
  const things = { wire, queue: await wire.queue(), exchange: session.name(), none: session.name() };
  await wire.call(declareExchange(things.exchange), MethodId.exchangeDeclareOk);
  return things;
}

/** The case of a row. @param of what the refusal costs */
export function refusal(of: 'channel' | 'connection', row: Row): Case {
  const title = `${row.what} ends the ${of} with ${row.code}`;
  return wireRule(row.source, title, async (wire, session) => {
    const things = await makeThings(wire, session);
    const refused = await wire.refusal(await row.send(things));
    assert.deepEqual([refused.of, refused.code], [of, row.code], refused.text);
    assertBlamed(refused, row.blames);
    assert.ok(refused.text.startsWith(withNames(row.text ?? '', things)), refused.text);
    if (of === 'channel') await wire.works();
    else await wire.raw.closed;
  });
}

function withNames(text: string, { queue, exchange, none }: Things): string {
  return text.replace('QUEUE', queue).replace('EXCHANGE', exchange).replace('NONE', none);
}

/** Rules of AMQP 1.0, shown with single frames, right or wrong. RabbitMQ 3.10 has another implementation of that protocol: see docs/adr. */
import assert from 'node:assert/strict';
import {
  type Close,
  Descriptor,
  type Detach,
  type End,
  type ErrorFields,
  type Open,
} from '../../src/amqp10/codec/index.js';
import { RawClient10 } from '../support/raw-client10.js';
import { within } from '../support/within.js';
import type { Case } from './case.js';
import type { Client } from './client.js';
import type { Session } from './session.js';

/** Before there is a connection: `body` has a socket on which nothing was sent. */
export function dialRule(
  source: string,
  title: string,
  body: (raw: RawClient10, session: Session) => Promise<void>,
): Case {
  return {
    title: `1.0: ${title}`,
    source,
    onlyOurs: true,
    async run(session) {
      const raw = await RawClient10.dial(session.target.port);
      raw.patienceMs = session.patienceMs;
      try {
        await body(raw, session);
      } finally {
        raw.end();
      }
    },
  };
}

/** `body` has an open connection. */
export function openRule(
  source: string,
  title: string,
  body: (raw: RawClient10, session: Session) => Promise<void>,
  open: Partial<Open> = {},
): Case {
  return {
    title: `1.0: ${title}`,
    source,
    onlyOurs: true,
    async run(session) {
      const raw = await RawClient10.open(session.target.port, open, session.patienceMs);
      try {
        await body(raw, session);
      } finally {
        raw.end();
      }
    },
  };
}

/** `body` has a session on channel 0, and a client of AMQP 0-9-1 to make queues and look into them. */
export function sessionRule(
  source: string,
  title: string,
  body: (raw: RawClient10, client: Client, session: Session) => Promise<void>,
  open: Partial<Open> = {},
): Case {
  return openRule(
    source,
    title,
    async (raw, session) => {
      await raw.begin();
      await body(raw, await session.client(), session);
    },
    open,
  );
}

function checkError(error: ErrorFields | undefined, condition: string, text?: RegExp): void {
  assert.equal(error?.condition, condition, error?.description);
  if (text !== undefined) assert.match(error.description ?? '', text);
}

/** The broker closes the connection with that. */
export async function closes(raw: RawClient10, condition: string, text?: RegExp): Promise<void> {
  const close: Close = await raw.expect(Descriptor.close);
  checkError(close.error, condition, text);
}

/** The broker ends the session with that; the connection goes on. */
export async function endsSession(raw: RawClient10, condition: string, text?: RegExp): Promise<void> {
  const end: End = await raw.expect(Descriptor.end);
  checkError(end.error, condition, text);
  await raw.works();
}

/** The broker detaches the link with that; the session goes on. */
export async function detaches(raw: RawClient10, condition: string, text?: RegExp): Promise<void> {
  const detach: Detach = await raw.expect(Descriptor.detach);
  assert.equal(detach.closed, true);
  checkError(detach.error, condition, text);
  raw.flow({ echo: true });
  await raw.expect(Descriptor.flow);
}

export async function hangsUp(raw: RawClient10): Promise<void> {
  await within(raw.patienceMs, 'the socket is closed', raw.closed);
}

/** Cases that begin before there is a connection. */
import { MethodId, protocolHeader } from '../../src/amqp091/codec/index.js';
import { RawClient, type Received, startOk } from '../support/raw-client.js';
import { within } from '../support/within.js';
import type { Case } from './case.js';
import type { Session } from './session.js';

type Raw = (raw: RawClient, session: Session) => Promise<void>;

/** A rule of the handshake: `body` has a socket on which nothing was sent. */
export function handshake(source: string, title: string, body: Raw): Case {
  return {
    source,
    title,
    run: async (session) => {
      const raw = await RawClient.dial(session.target.port);
      raw.patienceMs = session.patienceMs;
      try {
        await body(raw, session);
      } finally {
        raw.end();
      }
    },
  };
}

export async function started(raw: RawClient): ReturnType<typeof raw.expect<typeof MethodId.connectionStart>> {
  raw.sendBytes(protocolHeader);
  return raw.expect(MethodId.connectionStart);
}

export async function tuned(raw: RawClient): Promise<Received> {
  await started(raw);
  raw.send(0, startOk('guest', 'guest', { authentication_failure_close: true }));
  return raw.expect(MethodId.connectionTune);
}

export async function closed(raw: RawClient, session: Session): Promise<void> {
  await within(session.patienceMs, 'the socket is closed', raw.closed);
}

/** A rule that a broker keeps, with a run that shows it. */
import type { Client } from './client.js';
import type { Difference } from './differences.js';
import type { Session } from './session.js';
import type { Wire } from './wire.js';

export interface Case {
  /** The rule, as a sentence. No two cases have the same. */
  readonly title: string;
  /** Where it comes from: a section of the specification (`§1.7.2.1`) or the name of RabbitMQ's extension. */
  readonly source: string;
  /** What of differences.ts it shows, if our broker is meant to do otherwise than RabbitMQ. */
  readonly difference?: Difference;
  /** RabbitMQ does otherwise in ways that are not shown: it is not run there. */
  readonly onlyOurs?: boolean;
  /** Rejects if the broker does not keep it. */
  run(session: Session): Promise<void>;
}

/** A rule that shows with amqplib. `body` is given a connection of its own. */
export function rule(source: string, title: string, body: (client: Client, session: Session) => Promise<void>): Case {
  return { title, source, run: async (session) => body(await session.client(), session) };
}

/** A rule that needs single methods, right or wrong: `body` is given a raw connection whose channel 1 is open. */
export function wireRule(source: string, title: string, body: (wire: Wire, session: Session) => Promise<void>): Case {
  return { title, source, run: async (session) => body(await session.wire(), session) };
}

/** Two links of one name in one session, one in each direction: requests come on one, answers go on the other (OASIS, "AMQP link pair"). */
import { type Attach, Descriptor, textOf } from '../codec/index.js';
import type { Link } from '../link.js';
import { AnswersLink } from './answers-link.js';

/** RabbitMQ 4's name of the node that knows queues, exchanges and bindings. */
const address = '/management';

/** Whether a link is to or from the management node. */
export function isManagement({ role, source, target }: Attach): boolean {
  if (role) return textOf(source?.address) === address;
  return target?.descriptor === Descriptor.target && textOf(target.address) === address;
}

/**
 * The link on which answers to requests of the link `name` go: that of the same name, else the only one that the session has. There are clients, rhea among
 * them, that cannot have two links of one name.
 */
export function pairOf(links: Iterable<Link>, name: string): AnswersLink | undefined {
  const answers = [...links].filter((link) => link instanceof AnswersLink);
  return answers.find((link) => link.name === name) ?? (answers.length === 1 ? answers[0] : undefined);
}

/** Definitions that a node is started with, as RabbitMQ's `load_definitions`. */
import { createReadStream } from 'node:fs';
import type { BrokerNode } from '../../broker-node.js';
import { ConfigError } from '../../config/settings.js';
import type { Passwords } from '../../security/passwords.js';
import { Pace } from '../pace.js';
import { importDefinitions } from './import.js';
import { DefinitionsReader } from './reader.js';
import { type Definitions, DefinitionsError } from './sections.js';

/** Rejects with ConfigError if there is no such file, or it is no definitions' JSON. */
export async function readDefinitionsFile(path: string): Promise<Definitions> {
  const reader = new DefinitionsReader();
  try {
    for await (const piece of createReadStream(path)) reader.read(piece as Buffer);
    return reader.end();
  } catch (error) {
    throw new ConfigError(`load-definitions: ${path}: ${(error as Error).message}`);
  }
}

/** What is refused is logged, and the node serves all the same: others may have changed what the file says. */
export async function loadDefinitions(
  broker: BrokerNode,
  passwords: Passwords,
  definitions: Definitions,
  later: (run: () => void) => void,
): Promise<void> {
  const { logger } = broker.ports;
  try {
    const objects = await importDefinitions({ broker, passwords, pace: new Pace(later) }, definitions, undefined);
    logger.info('definitions were loaded', { objects });
  } catch (error) {
    if (!(error instanceof DefinitionsError)) throw error;
    logger.error('definitions were not loaded', { reason: error.message });
  }
}

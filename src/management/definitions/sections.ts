/** What definitions consist of: RabbitMQ's JSON, an object with lists of objects. */

/** In the order in which they are imported: each may name what is in those before it. */
export const sectionNames = [
  'global_parameters',
  'vhosts',
  'users',
  'permissions',
  'topic_permissions',
  'parameters',
  'policies',
  'exchanges',
  'queues',
  'bindings',
] as const;
export type SectionName = (typeof sectionNames)[number];

/** Those that are about what is in one vhost. */
export const vhostSections: readonly SectionName[] = ['parameters', 'policies', 'exchanges', 'queues', 'bindings'];

/** What other brokers say about themselves, and about a vhost that is exported alone: it is passed over. */
const remarks: readonly string[] = [
  'rabbitmq_version',
  'product_name',
  'product_version',
  'rabbitmq_definition_format',
  'original_cluster_name',
  'original_vhost_name',
  'explanation',
  'metadata',
  'description',
  'limits',
];

export function isSection(key: string): key is SectionName {
  return (sectionNames as readonly string[]).includes(key);
}

export function isRemark(key: string): boolean {
  return remarks.includes(key);
}

/** Definitions as they were read, and not looked at yet. */
export class Definitions {
  /** Of the RabbitMQ that has written them; '' = it is not said. */
  rabbitVersion = '';
  readonly sections: Readonly<Record<SectionName, unknown[]>> = {
    global_parameters: [],
    vhosts: [],
    users: [],
    permissions: [],
    topic_permissions: [],
    parameters: [],
    policies: [],
    exchanges: [],
    queues: [],
    bindings: [],
  };
}

/** Definitions that cannot be used; the text says where in them, and why. */
export class DefinitionsError extends Error {
  override readonly name = 'DefinitionsError';
  /** There is too much of it. */
  readonly isTooLarge: boolean;

  constructor(message: string, isTooLarge: boolean = false) {
    super(message);
    this.isTooLarge = isTooLarge;
  }
}

/** Definitions that were looked at: what is to be set and declared, list by list, each thing at the place that it has in its list. */
import type { Json } from '../../model/wiring/arguments.js';
import type { Binding, ExchangeDeclaration, QueueDeclaration } from '../../model/broker.js';
import type { LimitsObject, UserObject } from '../../model/access/objects.js';
import type {
  PermissionDescription,
  TopicPermissionDescription,
  UserDescription,
  VhostDescription,
} from '../../model/access/operations.js';
import type { SetPolicy } from '../../model/wiring/operations.js';

export type PolicyDescription = SetPolicy['policy'];

/** Whose hash is to be made of a password has none yet. */
export type ImportedUser = (UserDescription | (Pick<UserObject, 'name' | 'tags'> & { readonly password: string })) & {
  readonly limits: LimitsObject['limits'];
};

/** RabbitMQ's runtime parameters of vhosts. */
export type ImportedParameter =
  | { readonly component: 'operator_policy'; readonly policy: PolicyDescription }
  | { readonly component: 'vhost-limits'; readonly vhost: string; readonly limits: LimitsObject['limits'] };

export interface ImportPlan {
  readonly global_parameters: { readonly name: string; readonly value: Json }[];
  readonly vhosts: VhostDescription[];
  readonly users: ImportedUser[];
  readonly permissions: PermissionDescription[];
  readonly topic_permissions: TopicPermissionDescription[];
  readonly parameters: ImportedParameter[];
  readonly policies: PolicyDescription[];
  readonly exchanges: ExchangeDeclaration[];
  readonly queues: QueueDeclaration[];
  readonly bindings: Binding[];
}

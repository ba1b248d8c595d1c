import { Permissions } from '../security/permissions.js';
import type { ResourceRequest } from './resource.js';

/** Whoever changes something over HTTP needs the permissions that it takes over AMQP. */
export function permissionsOf({ person, security }: ResourceRequest, vhost: string): Permissions {
  return new Permissions(security.realm, person.name, vhost);
}

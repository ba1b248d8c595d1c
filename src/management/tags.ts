import { type Person, type Realm, Tag } from '../security/realm.js';
import { HttpError } from './resource.js';

/** What tag a request takes. */
export type Need = 'management' | 'monitoring' | 'policymaker' | 'administrator';

/** Each tag, with those that are allowed what it allows. */
const allowing: Readonly<Record<Need, readonly string[]>> = {
  management: [Tag.management, Tag.policymaker, Tag.monitoring, Tag.administrator],
  monitoring: [Tag.monitoring, Tag.administrator],
  policymaker: [Tag.policymaker, Tag.administrator],
  administrator: [Tag.administrator],
};

/** As RabbitMQ says it. */
const refusals: Readonly<Record<Need, string>> = {
  management: 'Not management user',
  monitoring: 'Not monitor user',
  policymaker: 'Not policymaker user',
  administrator: 'Not administrator user',
};

/** @throws HttpError 401 */
export function requireTag({ tags }: Person, need: Need): void {
  if (!tags.some((tag) => allowing[need].includes(tag))) throw new HttpError(401, 'not_authorised', refusals[need]);
}

/** Whoever looks at a vhost, and is no monitor, must be allowed something in it. */
export function seesVhost({ tags, name }: Person, vhost: string, realm: Realm): boolean {
  return tags.some((tag) => allowing.monitoring.includes(tag)) || realm.mayEnter(name, vhost);
}

/** The same for whoever changes something there and is no administrator. */
export function changesVhost({ tags, name }: Person, vhost: string, realm: Realm): boolean {
  return tags.some((tag) => allowing.administrator.includes(tag)) || realm.mayEnter(name, vhost);
}

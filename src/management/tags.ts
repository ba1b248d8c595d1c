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
  for (const one of ['management', need] as const)
    if (!tags.some((tag) => allowing[one].includes(tag))) throw new HttpError(401, 'not_authorised', refusals[one]);
}

/** May know of the vhost: administrators and monitors, and whoever is allowed something there. */
export function seesVhost({ tags, name }: Person, vhost: string, realm: Realm): boolean {
  return mayMonitor({ tags }) || realm.mayEnter(name, vhost);
}

export function mayMonitor({ tags }: Pick<Person, 'tags'>): boolean {
  return tags.some((tag) => allowing.monitoring.includes(tag));
}

/** May look at what is in it: the same without monitors. */
export function entersVhost({ tags, name }: Person, vhost: string, realm: Realm): boolean {
  return tags.some((tag) => allowing.administrator.includes(tag)) || realm.mayEnter(name, vhost);
}

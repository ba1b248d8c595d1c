/** The open of a connection (§2.4.1, §2.7.1): who may enter which vhost, and what is agreed. */
import { type Admission, AdmissionState } from '../model/admission.js';
import type { Authenticator } from '../security/authenticator.js';
import type { Occupancy } from '../security/occupancy.js';
import { Permissions } from '../security/permissions.js';
import { AmqpError, Condition, fieldMap, type MapValue, Open } from './codec/index.js';
import type { Product } from './connection-context.js';
import type { Limits } from './limits.js';
import { uint } from './codec/values.js';
import { soleCapability, soleProperties, wantsToBeSole } from './sole-connections.js';

/** In a hostname: the vhost follows. */
const vhostPrefix = 'vhost:';
const defaultVhost = '/';
/** §2.7.1: open is answered, and close follows. */
const failedProperty = 'amqp:connection-establishment-failed';

/** A client with smaller frames is not told of the other nodes. */
const smallFrameMax = 2_048;
/** Of the cluster's nodes, so many are named. */
const othersMax = 16;

export function vhostOf(hostname: string | undefined): string {
  return hostname?.startsWith(vhostPrefix) === true ? hostname.slice(vhostPrefix.length) : defaultVhost;
}

export interface EntryContext {
  authenticator: Authenticator;
  occupancy: Occupancy;
  hasVhost(name: string): boolean;
}

/** Lets a user into a vhost, and counts it there. Throws AmqpError. */
export function enter({ authenticator, occupancy, hasVhost }: EntryContext, user: string, vhost: string): Permissions {
  if (!hasVhost(vhost)) throw new AmqpError(Condition.notFound, `vhost ${vhost} not found`);
  if (!authenticator.realm.mayEnter(user, vhost))
    throw new AmqpError(Condition.unauthorizedAccess, `access to vhost '${vhost}' refused for user '${user}'`);
  const full = occupancy.enter(user, vhost);
  if (full !== '') throw new AmqpError(Condition.resourceLimitExceeded, full);
  return new Permissions(authenticator.realm, user, vhost);
}

/** What the open says depends on the client. */
export interface Opened {
  /** Bytes of a frame that it takes. */
  readonly frameMax: number;
  /** HOST:PORT of the cluster's nodes, in the order in which it should try them. */
  readonly others: readonly string[];
  /** Its open. */
  readonly asked: Open;
}

/** Our open. @param fails a close follows at once */
export function ownOpen(limits: Limits, product: Product, { frameMax, others, asked }: Opened, fails: boolean): Open {
  const open = new Open();
  open.containerId = product.clusterName === '' ? product.name : product.clusterName;
  open.maxFrameSize = limits.frameMax;
  open.channelMax = limits.channelMax;
  open.idleTimeOut = limits.idleTimeoutMs / 2;
  const isSole = wantsToBeSole(asked);
  open.offeredCapabilities = ['ANONYMOUS-RELAY', 'SHARED-SUBS', ...(isSole ? [soleCapability] : [])];
  open.properties = fieldMap({
    product: product.name,
    version: product.version,
    platform: `Node.js ${process.version}`,
    'failover-server-list': frameMax < smallFrameMax ? [] : others.slice(0, othersMax).map(place),
    ...(isSole ? soleProperties : {}),
    ...(fails ? { [failedProperty]: true } : {}),
  });
  return open;
}

/** This node serves ordinary clients now; false: see `redirection`. Undefined: that is about to be known. */
export function isAdmitted(admission: Admission): boolean | undefined {
  if (admission.state === AdmissionState.unsettled) return undefined;
  return admission.state === AdmissionState.serving;
}

/** What a client gets that this node does not serve (§2.8.16): where to go, as far as it is known. */
export function redirection(admission: Admission, secure: boolean): AmqpError {
  const primary = admission.primary(secure);
  if (primary === '')
    return new AmqpError(Condition.connectionForced, 'this node is a backup: the cluster has no primary now');
  return new AmqpError(
    Condition.connectionRedirect,
    `this node is a backup: the primary is ${primary}`,
    place(primary),
  );
}

function place(address: string): MapValue {
  const at = address.lastIndexOf(':');
  const host = address.slice(0, at).replace(/^\[(.*)\]$/, '$1');
  return fieldMap({ hostname: host, 'network-host': host, port: uint(Number(address.slice(at + 1))) });
}

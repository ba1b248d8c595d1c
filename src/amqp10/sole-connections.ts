/**
 * One connection for each container, where that is wanted (OASIS, "Enforcing Connection Uniqueness"): a client asks for it by a desired capability of
 * its open, and says what is to happen when the same container comes again:
 *
 *   refuse-connection (0, the default)   the newcomer is closed at once: invalid-field container-id
 *   close-existing (1)                   those that are there are closed: resource-locked
 *
 * What the one that is there has asked for counts, else what the newcomer asks for. Containers are those of a vhost, on this node. Nobody closes
 * another user's connection: who tries is refused.
 */
import {
  AmqpError,
  Condition,
  fieldMap,
  integerOf,
  type MapValue,
  type Open,
  type Scalar,
  symbol,
  uint,
} from './codec/index.js';

export const soleCapability = 'sole-connection-for-container';
const enforcementProperty = 'sole-connection-enforcement-policy';
const detectionProperty = 'sole-connection-detection-policy';
const Policy = { refuseConnection: 0, closeExisting: 1 } as const;
/** Other nodes' connections are not known. */
const weak = 1;

/** A connection whose open has come. */
export interface Tenant {
  /** As its client sent it. */
  readonly asked: Open;
  readonly user: string;
  readonly vhost: string;
  /** It is over, or about to be. */
  readonly released: boolean;
  fail(error: AmqpError): void;
}

export function wantsToBeSole({ desiredCapabilities }: Open): boolean {
  return desiredCapabilities?.includes(soleCapability) === true;
}

/** Properties of our open. */
export const soleProperties: Readonly<Record<string, Scalar>> = { [detectionProperty]: uint(weak) };

function policyOf({ asked }: Tenant): number | undefined {
  if (!wantsToBeSole(asked)) return undefined;
  return integerOf(asked.properties?.get(enforcementProperty)) ?? Policy.refuseConnection;
}

/** Connections of one container. */
class Tenants {
  readonly all = new Set<Tenant>();
  /** Those that want to be the only one. Most containers have none: their connections are not gone through. */
  soles = 0;
}

export class SoleConnections {
  private readonly byContainer: Map<string, Tenants> = new Map();

  /** Its open has come. Throws AmqpError if it may not be; may end others. */
  enter(newcomer: Tenant): void {
    const key = keyOf(newcomer);
    const isSole = wantsToBeSole(newcomer.asked);
    const known = this.byContainer.get(key);
    if (known !== undefined && (isSole || known.soles > 0)) this.enforce(newcomer, known);
    // Whoever was ended may have left by now.
    const tenants = this.byContainer.get(key) ?? new Tenants();
    this.byContainer.set(key, tenants);
    tenants.all.add(newcomer);
    if (isSole) tenants.soles++;
  }

  private enforce(newcomer: Tenant, { all }: Tenants): void {
    const others = [...all].filter(({ released }) => !released);
    for (const other of others) {
      const policy = policyOf(other) ?? policyOf(newcomer);
      if (policy === undefined) continue;
      if (policy !== Policy.closeExisting || other.user !== newcomer.user) throw refusal(newcomer);
    }
    for (const other of others)
      if ((policyOf(other) ?? policyOf(newcomer)) !== undefined) other.fail(closing(newcomer));
  }

  /** It is over, whether it has entered or not. */
  leave(tenant: Tenant): void {
    const key = keyOf(tenant);
    const tenants = this.byContainer.get(key);
    if (tenants?.all.delete(tenant) !== true) return;
    if (wantsToBeSole(tenant.asked)) tenants.soles--;
    if (tenants.all.size === 0) this.byContainer.delete(key);
  }
}

function keyOf({ vhost, asked: { containerId } }: Tenant): string {
  return `${vhost}\0${containerId}`;
}

function refusal({ asked: { containerId } }: Tenant): AmqpError {
  const info: MapValue = fieldMap({ 'invalid-field': symbol('container-id') });
  const text = `container '${containerId}' has a connection here, and there is to be one only`;
  return new AmqpError(Condition.invalidField, text, info);
}

function closing({ asked: { containerId } }: Tenant): AmqpError {
  const text = `container '${containerId}' has another connection now, and there is to be one only`;
  return new AmqpError(Condition.resourceLocked, text, fieldMap({ 'sole-connection-enforcement': true }));
}

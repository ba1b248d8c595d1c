/** How much the users and vhosts have on this node, where that may be limited. */
import type { Realm } from './realm.js';

export class Occupancy {
  private readonly realm: Realm;
  private readonly userConnections = new Map<string, number>();
  private readonly vhostConnections = new Map<string, number>();
  private readonly userChannels = new Map<string, number>();

  constructor(realm: Realm) {
    this.realm = realm;
  }

  /** A connection is to be opened; `leave` undoes it. Returns '', or why it must not be. */
  enter(user: string, vhost: string): string {
    const { realm } = this;
    const inVhost = realm.limit('vhost', vhost, 'max-connections');
    if (inVhost !== undefined && (this.vhostConnections.get(vhost) ?? 0) >= inVhost)
      return `access to vhost '${vhost}' refused for user '${user}': connection limit (${inVhost}) is reached`;
    const ofUser = realm.limit('user', user, 'max-connections');
    if (ofUser !== undefined && (this.userConnections.get(user) ?? 0) >= ofUser)
      return `Connection refused for user '${user}': user connection limit (${ofUser}) is reached`;
    add(this.vhostConnections, vhost, 1);
    add(this.userConnections, user, 1);
    return '';
  }

  leave(user: string, vhost: string): void {
    add(this.vhostConnections, vhost, -1);
    add(this.userConnections, user, -1);
  }

  /** A channel is to be opened; `closeChannel` undoes it. Returns '', or why it must not be. */
  openChannel(user: string): string {
    const max = this.realm.limit('user', user, 'max-channels');
    if (max !== undefined && (this.userChannels.get(user) ?? 0) >= max)
      return `number of channels opened for user '${user}' has reached the maximum allowed user limit of (${max})`;
    add(this.userChannels, user, 1);
    return '';
  }

  closeChannel(user: string): void {
    add(this.userChannels, user, -1);
  }
}

function add(counts: Map<string, number>, name: string, change: number): void {
  const count = (counts.get(name) ?? 0) + change;
  if (count > 0) counts.set(name, count);
  else counts.delete(name);
}

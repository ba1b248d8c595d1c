import type { ClusterMap } from '../cluster-map.js';
import type { BootLives } from '../wiring/ports.js';
import type { Liveness } from './liveness.js';

/** Which boots are over, as far as this node knows: one that was only out of reach may come back. */
export class Lives implements BootLives {
  private readonly map: ClusterMap;
  private readonly liveness: Liveness;

  constructor(map: ClusterMap, liveness: Liveness) {
    this.map = map;
    this.liveness = liveness;
  }

  isOver(node: string, boot: number): boolean {
    const member = this.map.members.get(node)?.value;
    if (member === undefined) return this.map.isForgotten(node);
    return member.boot > boot || this.liveness.mayDepose(node, boot);
  }
}

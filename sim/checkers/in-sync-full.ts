/**
 * After all has healed every group gets back its primary and its full in-sync set: all wanted replicas, in their present boots,
 * none of them joining, and as many as the cluster asks for. That includes that joins end: a join's work is bounded by the
 * difference it began with, so the time the run allows for it is, too.
 */
import type { GroupRecord } from '../../src/cluster/map.js';
import { Checker } from './checker.js';

export class InSyncFull extends Checker {
  readonly name = 'in-sync-full';

  override atRest(): string {
    const entries = this.world.coordinator.peekAll('groups/');
    if (entries.length < this.world.options.groups + 1) return `only ${entries.length} groups are recorded`;
    for (const entry of entries) {
      const problem = this.problem(JSON.parse(entry.value) as GroupRecord);
      if (problem !== '') return problem;
    }
    for (const node of this.world.nodes) if (!node.serving) return `${node.name} does not serve`;
    return '';
  }

  private problem(record: GroupRecord): string {
    const name = `group ${record.group} epoch ${record.epoch}`;
    const wanted = Math.min(record.size ?? this.world.options.replicas, this.world.nodes.length);
    if (record.group !== 0 && record.replicas.length < wanted) return `${name} has ${record.replicas.length} replicas`;
    for (const node of record.replicas) {
      const member = record.inSync.find((candidate) => candidate.node === node);
      if (member === undefined) return `${name}: ${node} is not in sync`;
      const probe = this.world.node(node).process?.probe;
      if (probe?.boot !== member.boot) return `${name}: ${node} is in sync in boot ${member.boot}, not ${probe?.boot}`;
      const state = probe.groups().find((candidate) => candidate.group === record.group);
      if (state === undefined || state.role === 'joining' || state.role === 'none')
        return `${name}: ${node} is ${state?.role ?? 'nothing'}`;
      if (node === record.primary.node && (state.role !== 'primary' || state.epoch !== record.epoch))
        return `${name}: its primary ${node} is ${state.role} in epoch ${state.epoch}`;
      if (node !== record.primary.node && state.epoch !== record.epoch)
        return `${name}: ${node} follows epoch ${state.epoch}`;
    }
    return '';
  }
}

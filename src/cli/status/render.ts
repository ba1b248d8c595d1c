import type { GroupReport, MemberReport } from '../../cluster/report.js';
import { describeGroups, describeWait } from '../../cluster/waiting/texts.js';
import { formatBytes } from '../../config/quantities.js';
import { type ClusterView, isComplete } from '../api-client.js';
import { formatTable } from '../table.js';

/** Members and groups, for people. */
export function renderStatus(view: ClusterView): string {
  const summary = `${renderSummary(view)}\n${renderProtocol(view)}`;
  return [renderMembers(view), renderGroups(view), ...renderWaiting(view), summary].join('\n\n');
}

/** One row a member: its state, where it listens, for how many groups it is what. */
export function renderMembers(view: ClusterView): string {
  const rows = view.members.map((member) => [
    member.name,
    stateOf(member),
    endpoints('amqps', member.amqp, member.amqps),
    endpoints('https', member.http, member.https),
    member.state === 'down' ? '-' : String(member.pid),
    ...roles(view, member),
  ]);
  return formatTable([['NODE', 'STATE', 'AMQP', 'HTTP', 'PID', 'PRIMARY', 'IN SYNC', 'JOINING'], ...rows]);
}

/** `ready`, or `ready (low on memory)`. */
function stateOf({ state, ailing, alarms = [] }: MemberReport): string {
  const troubles = new Set([...(ailing === undefined ? [] : [ailing]), ...alarms.map((kind) => `low on ${kind}`)]);
  return troubles.size === 0 ? state : `${state} (${[...troubles].join(', ')})`;
}

/** `HOST:PORT`, and `amqps HOST:PORT` for what is over TLS. */
function endpoints(scheme: string, plain: string, secure?: string): string {
  const all = [plain, secure === undefined ? '' : `${scheme} ${secure}`].filter((text) => text !== '');
  return all.join(' ') || '-';
}

/** One line: whether anything is missing. */
export function renderSummary(view: ClusterView): string {
  const { members, groups, replicas } = view;
  if (isComplete(view)) return `${members.length} members ready, ${groups.length} groups with all replicas`;
  const absent = members.filter((member) => member.state !== 'ready').map((member) => `${member.name} ${member.state}`);
  const short = groups.filter((group) => group.inSync.length < Math.min(group.size ?? replicas, members.length)).length;
  const parts = [...absent, ...(short > 0 ? [`${short} of ${groups.length} groups short of replicas`] : [])];
  return parts.length > 0 ? parts.join(', ') : 'not all members can be connected to yet';
}

/** Which version the cluster speaks and, where it could be a newer one, who holds it back. */
function renderProtocol({ protocol, members }: ClusterView): string {
  const line = `protocol version ${protocol}`;
  const newest = Math.max(...members.map((member) => member.protocol[1]));
  const old = members.filter((member) => member.protocol[1] < newest);
  if (old.length === 0) return line;
  return `${line}; others speak ${newest}, but not ${old.map((member) => `${member.name} (${member.state})`).join(', ')}`;
}

function roles(view: ClusterView, member: MemberReport): string[] {
  const count = (has: (group: GroupReport) => boolean): string => String(view.groups.filter(has).length);
  return [
    count((group) => group.primary === member.name && member.state !== 'down'),
    count((group) => group.inSync.includes(member.name)),
    count((group) => group.joining.some((joiner) => joiner.node === member.name)),
  ];
}

function renderGroups(view: ClusterView): string {
  const rows = view.groups.map((group) => [
    group.id === 0 ? 'system' : String(group.id),
    String(group.epoch),
    group.wanted === undefined || group.wanted === group.primary
      ? group.primary
      : `${group.primary} (to ${group.wanted})`,
    group.inSync.join(' '),
    group.joining.map(joiner).join('; '),
  ]);
  return formatTable([['GROUP', 'EPOCH', 'PRIMARY', 'IN SYNC', 'JOINING'], ...rows]);
}

/** Whom groups wait for that have no primary, and what the nodes have that are up. */
function renderWaiting(view: ClusterView): string[] {
  const groups = new Map<string, number[]>();
  for (const { id, waiting } of view.groups) {
    if (waiting === undefined) continue;
    const up = waiting.candidates.map(({ node }) => node).sort();
    const text = `${describeWait(waiting)}; there are ${up.join(', ') || 'none'} that have some of it`;
    groups.set(text, [...(groups.get(text) ?? []), id]);
  }
  if (groups.size === 0) return [];
  const lines = [...groups].map(([text, ids]) => `  ${describeGroups(ids)}: ${text}`);
  return [['Waiting for a member of their last in-sync set:', ...lines].join('\n')];
}

/** `n2 45 %, 12000 messages, 11.7 MiB left, 2.0 MiB/s, 6 s`: what is not known yet is left out. */
function joiner({ node, ...status }: GroupReport['joining'][number]): string {
  const { percent, messagesLeft, bytesLeft, bytesPerSecond, secondsLeft } = status;
  if (percent === undefined) return node;
  const parts = [`${node} ${percent} %`, `${messagesLeft} messages`];
  if (typeof bytesLeft === 'number') parts.push(`${formatBytes(bytesLeft)} left`);
  if (bytesPerSecond !== undefined && bytesPerSecond > 0) parts.push(`${formatBytes(bytesPerSecond)}/s`);
  if (typeof secondsLeft === 'number') parts.push(`${secondsLeft} s`);
  return parts.join(', ');
}

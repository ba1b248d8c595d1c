/**
 * Versions of the protocol: of what brokers say to each other, and write to their journals and to the cluster map.
 *
 *   1   the first
 *   2   neighbours that leave a queue together are one short record (RecordKind.dequeueRange); groups that hold queues are given away
 *       (rule 20: FrameType.handOver, FrameType.moved, GroupRecord.movedFrom); policies, which older nodes would not see; events
 *       that count before they are on disk (RecordFlag.relaxed, GroupRecord.relaxed); groups with a number of replicas of their own
 *       (GroupRecord.size); exchanges and bindings that go with a boot (goesWith of their objects); queues that move to another group
 *       (movesFrom of their objects, RecordFlag.redelivered)
 *   3   groups that owe each other messages (rule 16: the queue `outboxIncarnation`, RecordFlag.origin, GroupMeta.origins); queues that
 *       refuse messages (FrameType.rejected), or count how often they came back (RecordKind.returned, GroupMeta.returns,
 *       FrameType.deliverCounted); transactions (FrameType.transact); replies to waiting clients (FrameType.reply, replyAsk, replyAnswer);
 *       nodes that tell each other what they run short of (FrameType.alarms); exchanges of
 *       other types than the specification's; messages that wait for their time (the queue `delayedIncarnation`); headers of messages
 *       that clients are not shown (RecordFlag.hidden); queues whose publishers wait (FrameType.flow); messages whose body is in parts
 *       (RecordFlag.large, the queue `partsIncarnation`, FrameType.bodyRead, bodyHold, bodyDone, openUploads, bodyPart, bodyGone);
 *       messages of AMQP 1.0 (MessageFormat.amqp10); subscriptions with filters, and those that browse (FrameType.browseFrom); what clients
 *       of AMQP 1.0 note of messages that they give back (RecordKind.annotated, FrameType.modify), and such as do not count
 *       (Settlement.putBack, Naming.putBack); links that are resumed (the queue `terminiIncarnation`, FrameType.terminus,
 *       terminusAnswered); users, permissions, limits, vhosts and operators' policies, which older nodes
 *       would not see
 *
 * A version only adds: record kinds, frame types, fields at an end. What was there is never changed, and a number never used
 * again for something else. A feature may be used when the cluster's version is the one named here (ClusterConfig.version).
 */

export interface VersionRange {
  readonly min: number;
  readonly max: number;
}

/** What this program speaks. */
export const protocolVersions: VersionRange = { min: 1, max: 3 };

/** What somebody speaks who does not say: the first program did not. */
export const firstVersions: VersionRange = { min: 1, max: 1 };

/** The version with which a feature begins. */
export const Feature = {
  dequeueRange: 2,
  handOver: 2,
  policies: 2,
  relaxed: 2,
  groupSizes: 2,
  goesWith: 2,
  queueMoves: 2,
  outbox: 3,
  exchangeTypes: 3,
  overflow: 3,
  alarms: 3,
  returns: 3,
  transactions: 3,
  directReplies: 3,
  access: 3,
  hidden: 3,
  flows: 3,
  operatorPolicies: 3,
  globalParameters: 3,
  largeMessages: 3,
  amqp10: 3,
  filters: 3,
  annotations: 3,
} as const;

/** `2`, or `1 to 2`. */
export function describeVersions({ min, max }: VersionRange): string {
  return min === max ? String(max) : `${min} to ${max}`;
}

/** What a cluster speaks, as its map has it. */
export interface SpokenVersions {
  /** In use: what is written and sent. */
  readonly version: number;
  /** Who speaks less may not enter any more; the next version in use, or the present one. */
  readonly versionFloor: number;
}

/**
 * Why a node may not be in the cluster: a text that names both ranges, and what to do; '' if it may.
 * @param who the node, as the text is to begin
 */
export function judgeVersions(who: string, range: VersionRange, { version, versionFloor }: SpokenVersions): string {
  const speaks = `${who} speaks protocol version ${describeVersions(range)}`;
  if (range.max < versionFloor)
    return (
      `${speaks}, the cluster ${versionFloor} and no older one any more: ` +
      'start it with the program of the other nodes, or without the setting `protocol`'
    );
  if (range.min > version)
    return (
      `${speaks}, the cluster ${version}: ` +
      `bring all nodes to a program that speaks ${version} and ${range.min} first, then to this one`
    );
  return '';
}

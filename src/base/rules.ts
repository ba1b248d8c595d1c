/**
 * The rules of replication as switches, for the simulator's planted faults only.
 *
 * Each one is true in production, always: `allRules` is what the composition passes. The simulator switches one off at a
 * time and its checkers must then find a lost, doubled or resurrected message; a rule whose absence nobody notices is either
 * not needed or not tested. The code asks at the decisive place and nowhere else, with the rule's name in the condition, so
 * that the name leads from docs/replication.md to the line that keeps it.
 *
 * The number before each name is the rule's in docs/replication.md.
 */
export interface Rules {
  /** 1: in-sync entries and acks name a boot, and count only for that boot. Off: an ack of any boot of the node counts. */
  readonly bootId: boolean;
  /** 1: a new boot never resumes an epoch. Off: a restarted primary that the record still names goes on in its old epoch. */
  readonly noResume: boolean;

  /** 2: the epoch is on disk before the first ack or commit in it. Off: it is only remembered in memory. */
  readonly epochPersist: boolean;
  /** 2: a node never follows a lower epoch than one it acted in. Off: it follows whoever speaks to it. */
  readonly noLowerEpoch: boolean;

  /** 3: commit needs the confirmed in-sync set united with every proposal whose answer is out. Off: a shrink counts at once. */
  readonly unionInSync: boolean;
  /** 3: the primary's own disk counts for durable events. Off: it commits what only the backups have on disk. */
  readonly ownSync: boolean;
  /** 3: a change of a record compares the version of the record it was made from. Off: it writes over whatever is there. */
  readonly wholeRecord: boolean;

  /** 4: ack counters start at zero at a takeover; acks carry their epoch. Off: acks of an older epoch count. */
  readonly ackEpoch: boolean;
  /** 4: the tail a new primary found is committed by acks of the new epoch only. Off: it is committed at the takeover. */
  readonly tailNotCommitted: boolean;
  /** 4: "already there" and "already gone" answers to retries wait for the commit. Off: they are given at once. */
  readonly retryWaits: boolean;

  /** 5: a joiner is admitted only with acked >= the commit point. Off: as soon as it has sent any ack. */
  readonly admitCommitted: boolean;

  /** 6: a follower truncates to the common point. Off: it keeps its own tail and appends after it. */
  readonly truncate: boolean;
  /** 6: a follower refuses a batch that does not follow on its log's end. Off: it takes it and acks it. */
  readonly refuseGaps: boolean;
  /** 6: events are applied at commit. Off: a backup applies at receipt, and cannot undo. */
  readonly applyAtCommit: boolean;

  /** 7: a durable event is acked after sync. Off: at receipt. */
  readonly ackAfterSync: boolean;
  /** 7: after a write or sync error nothing is acked before recovery. Off: the error is passed over. */
  readonly noAckAfterError: boolean;

  /** 8: set difference only for who is out of the in-sync set. Off: a member joins without being taken out. */
  readonly outFirst: boolean;

  /** 9: a joiner's acks do not count before its join is done. Off: they count, and admit it, at once. */
  readonly joinerAcksNot: boolean;
  /** 9: a joiner is never elected. Off: whoever is asked, is. */
  readonly joinerNotElectable: boolean;
  /** 9: a joiner drops what the primary does not have. Off: it keeps it. */
  readonly dropStale: boolean;

  /** 10: a dequeue names exact positions. Off: the first and the last of those settled in a turn, and takes what lies between them too. */
  readonly exactPositions: boolean;

  /** 11: answers and deliveries go out only under a valid lease. Off: without it. */
  readonly leaseNeeded: boolean;
  /** 11: the lease is valid from the sending of the renewal. Off: from the receipt of the answer. */
  readonly leaseFromSend: boolean;
  /** 11: a live primary with a valid lease is not deposed. Off: a suspicion is enough to take over. */
  readonly liveNotDeposed: boolean;
  /** 11: what was promised is kept over a restart: a new boot elects only after the lease's time. Off: at once. */
  readonly newBootWaits: boolean;
  /** 11: an operator's override asks the recorded primary whether it is there, and waits for its lease. Off: it takes over at once. */
  readonly overrideWaits: boolean;

  /** 12: of restarted members the one with most is elected, where events counted before they were on disk. Off: any. */
  readonly mostElected: boolean;
  /** 12: a restarted member is elected only if no intact one is up. Off: any member of the set. */
  readonly intactFirst: boolean;
  /** 12: a restarted member is elected only with the recorded store, an undamaged journal, and no old copy of it. Off: with any. */
  readonly sameStore: boolean;

  /** 13: only committed messages are delivered. Off: as soon as they are in the log. */
  readonly deliverCommitted: boolean;
  /** 13: a new primary flags what older epochs may have handed out. Off: only what it saw requeued itself. */
  readonly flagOld: boolean;
  /** 13: a new primary delivers only after every live node named what its clients hold. Off: at once. */
  readonly waitReattach: boolean;
  /** 13: what a re-attaching node names stays held. Off: it is delivered again. */
  readonly keepHeld: boolean;
  /** 13: messages of a dead holder come again flagged. Off: unflagged. */
  readonly flagReaped: boolean;
  /** 13: a lost link alone does not give a holder's messages to others. Off: it does. */
  readonly holdOverLinkLoss: boolean;

  /** 14: the log drops a publish it has already. Off: it takes it again. */
  readonly dedupe: boolean;
  /** 14: what a transaction does in a group is one batch. Off: its publishes are one, its settlements another one. */
  readonly wholeUnits: boolean;
  /** 14: unconfirmed publishes are sent again before any new one, and the log takes only the next. Off: after new ones, and any higher one. */
  readonly resendFirst: boolean;
  /** 14, 19: publishers' last numbers are part of a join and of checkpoints. Off: they are forgotten. */
  readonly publishersKept: boolean;

  /** 15: messages are routed to incarnations. Off: to whatever has the queue's name now. */
  readonly byIncarnation: boolean;
  /** 15: a forwarded operation waits until its wiring version is applied. Off: it is refused as for a queue that is gone. */
  readonly waitVersion: boolean;
  /** 15: nodes act on committed wiring only. Off: at receipt. */
  readonly onlyCommittedWiring: boolean;
  /** 15: a node is left out of a wiring change only when its lease is gone. Off: as soon as its link is. */
  readonly wiringWaitsForAll: boolean;

  /** 16: a message that an outbox sends again is not taken again. Off: it is. */
  readonly outboxOnce: boolean;
  /** 16: a message leaves the outbox when it is safe where it went. Off: when it was sent. */
  readonly outboxSafeFirst: boolean;

  /** 16: a delayed message goes into the outbox with the batch that takes it out of its queue. Off: it leaves that a little later. */
  readonly delayedTogether: boolean;
  /** A delayed message waits for its time. Off: it goes on at once. */
  readonly delayedDue: boolean;
  /** A new primary tells nodes of all queues whose publishers wait. Off: what the last one has said holds until it says otherwise. */
  readonly stopsListed: boolean;

  /** Of a queue with priorities the highest goes first. Off: the oldest. */
  readonly highestFirst: boolean;
  /** 8: a joiner is told by what a queue orders its messages. Off: it keeps them by age. */
  readonly lanesJoined: boolean;
  /** Messages of a group are one client's at a time. Off: anybody's. */
  readonly groupsTogether: boolean;
  /** 13: a new primary finds out to which groups belongs what clients hold. Off: it does not. */
  readonly groupsNamed: boolean;
  /** Who chooses messages looks again at what comes back. Off: a message is looked at once. */
  readonly readersTold: boolean;
  /** A queue of last values drops what a newer message replaces. Off: it keeps it. */
  readonly newestStays: boolean;
  /** A new primary finds the keys of what it has. Off: it knows those of what comes. */
  readonly valuesFound: boolean;
  /** A queue drops its oldest messages beyond its length. Off: it keeps them. */
  readonly lengthKept: boolean;
  /** A full queue that is to refuse messages does. Off: it takes them. */
  readonly fullRefuses: boolean;
  /** Who publishes is told that a full queue has refused it. Off: it is confirmed. */
  readonly refusalsTold: boolean;
  /** 14: what a full queue may have refused before a failover is nacked. Off: it is confirmed. */
  readonly doubtRefuses: boolean;
  /** How often messages came back is written into the log. Off: the next primary counts anew. */
  readonly returnsLogged: boolean;
  /** 8: a joiner is told how often messages came back. Off: it counts anew. */
  readonly returnsJoined: boolean;
  /** A message that came back too often leaves its queue. Off: it comes again. */
  readonly returnsLimited: boolean;
  /** With one active consumer nobody else is given messages. Off: all are. */
  readonly oneActive: boolean;
  /** Consumers with a higher priority are served first. Off: all in turn. */
  readonly preferredFirst: boolean;
  /** A message whose time is over is not handed out. Off: it is. */
  readonly timeKept: boolean;
  /** A queue goes when it was not used for as long as it may. Off: it stays. */
  readonly unusedGoes: boolean;
  /** A use keeps a queue for all of its time again. Off: only its declaration does. */
  readonly useKeeps: boolean;
  /** A message dies of its age when its time is over. Off: at once. */
  readonly diesInTime: boolean;
  /** What a full queue refuses other queues take. Off: they do not. */
  readonly othersTake: boolean;
  /** A reply to who does not wait any more goes nowhere. Off: it comes. */
  readonly repliesEnd: boolean;
  /** What leads nowhere goes to the alternate exchange. Off: it is gone. */
  readonly alternateTaken: boolean;

  /** A large message is taken into the log only with all of its parts. Off: without looking. */
  readonly largeWhole: boolean;
  /** The parts of a large message go when nobody refers to it any more. Off: they stay. */
  readonly partsGo: boolean;

  /** 20: a group is given away only when everything that was accepted is committed. Off: at once. */
  readonly moveDrained: boolean;
  /** 20: the old primary passes on what may have been handed out. Off: the new one flags all. */
  readonly movePassesOn: boolean;
  /** 20: a node attaches to the new primary when the old one's last word has come. Off: as soon as it hears of the new one. */
  readonly endMark: boolean;
  /** 18: a record is on disk before it is acted on. Off: it is only remembered in memory. */
  readonly recordPersist: boolean;
  /** 18: a coordinator that was put back is believed when all wanted replicas have reported. Off: at once. */
  readonly restoredWaits: boolean;

  /** 19: what cancels a record is kept as long as a copy of the record may be. Off: it goes with its segment. */
  readonly cancelsKept: boolean;

  /** 21: below min-in-sync confirms of publishes wait. Off: they are given. */
  readonly minInSync: boolean;
  /** 21: members are counted in the smallest set that may be recorded. Off: in the confirmed one. */
  readonly minSmallestSet: boolean;

  /** 22: publishes wait while their queue is about to move. Off: they go to where it moves. */
  readonly closingWaits: boolean;
  /** 22: a queue's move goes on when every node that routes has said that nothing more comes. Off: at once. */
  readonly moveMarkers: boolean;
  /** 22: a message leaves the old queue when it is safe in the new one. Off: when it was sent there. */
  readonly movedSafeFirst: boolean;

  /** A feature of a newer protocol version waits until every member reads it. Off: whoever can write it, does. */
  readonly featuresWait: boolean;

  /** Journal: fdatasync before "on disk" is reported. Off: after the write alone. */
  readonly syncDisk: boolean;
  /** Commit waits for the backups. Off: a publish is confirmed when the primary has it. */
  readonly backupsBeforeConfirm: boolean;
  /** A requeued message goes back to its place. Off: to the end of its queue. */
  readonly requeueInPlace: boolean;
  /** Backfill sends a message only if it is still there. Off: it sends what was there when the join began. */
  readonly backfillPresent: boolean;

  /** 22: of a link that is attached elsewhere the log takes nothing. Off: it takes what is late. */
  readonly linksFenced: boolean;
  /** 22: a delivery of a link that can be resumed is sent when it is in the log that the link has it. Off: it is not logged. */
  readonly acquiresLogged: boolean;
  /** 22: a new primary leaves to such links what they have. Off: it gives it to whoever comes. */
  readonly acquiredKept: boolean;
}

export type RuleName = keyof Rules;

/** Every rule kept: production. */
export const allRules: Rules = {
  bootId: true,
  noResume: true,
  epochPersist: true,
  noLowerEpoch: true,
  unionInSync: true,
  ownSync: true,
  wholeRecord: true,
  ackEpoch: true,
  tailNotCommitted: true,
  retryWaits: true,
  admitCommitted: true,
  truncate: true,
  refuseGaps: true,
  applyAtCommit: true,
  ackAfterSync: true,
  noAckAfterError: true,
  outFirst: true,
  joinerAcksNot: true,
  joinerNotElectable: true,
  dropStale: true,
  exactPositions: true,
  leaseNeeded: true,
  leaseFromSend: true,
  liveNotDeposed: true,
  newBootWaits: true,
  overrideWaits: true,
  mostElected: true,
  intactFirst: true,
  sameStore: true,
  deliverCommitted: true,
  flagOld: true,
  waitReattach: true,
  keepHeld: true,
  flagReaped: true,
  holdOverLinkLoss: true,
  dedupe: true,
  wholeUnits: true,
  resendFirst: true,
  publishersKept: true,
  byIncarnation: true,
  waitVersion: true,
  onlyCommittedWiring: true,
  wiringWaitsForAll: true,
  outboxOnce: true,
  outboxSafeFirst: true,
  delayedTogether: true,
  delayedDue: true,
  stopsListed: true,
  highestFirst: true,
  lanesJoined: true,
  groupsTogether: true,
  groupsNamed: true,
  readersTold: true,
  newestStays: true,
  valuesFound: true,
  lengthKept: true,
  fullRefuses: true,
  refusalsTold: true,
  doubtRefuses: true,
  returnsLogged: true,
  returnsJoined: true,
  returnsLimited: true,
  oneActive: true,
  preferredFirst: true,
  timeKept: true,
  unusedGoes: true,
  useKeeps: true,
  diesInTime: true,
  othersTake: true,
  repliesEnd: true,
  alternateTaken: true,
  linksFenced: true,
  acquiresLogged: true,
  acquiredKept: true,
  largeWhole: true,
  partsGo: true,
  moveDrained: true,
  movePassesOn: true,
  endMark: true,
  recordPersist: true,
  restoredWaits: true,
  cancelsKept: true,
  minInSync: true,
  minSmallestSet: true,
  closingWaits: true,
  moveMarkers: true,
  movedSafeFirst: true,
  featuresWait: true,
  syncDisk: true,
  backupsBeforeConfirm: true,
  requeueInPlace: true,
  backfillPresent: true,
};

/** All rules but one. */
export function rulesWithout(name: RuleName): Rules {
  return { ...allRules, [name]: false };
}

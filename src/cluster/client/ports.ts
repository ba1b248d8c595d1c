/**
 * What the clients' side of a cluster needs from the rest of the node: who leads which group, the services of the groups that
 * this node leads itself, and whether the node as a whole can take more. Replication and the composition root implement these.
 */
import type { GroupClientPort, GroupServicePort, HeldMessage } from '../../model/group-port.js';

/** Who leads a group, as this node knows it. */
export interface Leadership {
  /** Grows with every change of the primary. A local group's epoch is its node's boot. */
  readonly epoch: number;
  readonly node: string;
  readonly boot: number;
  /** Who has given the group away with this epoch, and says so to everyone that is attached to it (rule 20). */
  readonly movedFrom?: { readonly node: string; readonly boot: number } | undefined;
}

/** The groups of the cluster, as this node knows them. */
export interface GroupDirectory {
  /** The newest leadership known; undefined if there is none, or none was learned yet. */
  leadership(group: number): Leadership | undefined;
  /** True for a local group only, once its node's last boot is known to be over: its queues and messages are gone for ever. */
  isOver(group: number): boolean;
  /** The group, if this node leads it now and its service takes attachments. Its epoch equals `leadership(group).epoch`. */
  led(group: number): LedGroup | undefined;
  /** Where messages wait for their time that are to go on from that exchange then: one group, so that they go on in order. */
  delayGroup(vhost: string, exchange: string): number;
  /** There is a newer epoch of the group than the one known: `onChange` follows. */
  learnSoon(): void;
  /**
   * Told whenever `leadership`, `isOver` or `led` of the group has changed, after the change. When this node is deposed it is
   * told after `UnconfirmedKeeper.keepPublish` was called for what had not committed.
   */
  onChange(listener: (group: number) => void): void;
}

/** A group that this node leads. */
export interface LedGroup {
  readonly epoch: number;
  readonly service: AttachableService;
}

/** How nodes attach to a group's service. */
export interface AttachableService {
  /**
   * Attaches the node in its boot `boot`, replacing an older attachment of it, whose calls the caller drops from now on.
   * `held`: all that the node's clients hold (rule 13), not to be changed any more: what the service knew otherwise of this node
   * is replaced by it.
   * `confirmed`: the publishes up to here were confirmed to this boot; its next one is not older than the one after that.
   */
  attach(
    node: string,
    boot: number,
    client: GroupClientPort,
    held: readonly HeldMessage[],
    confirmed: number,
  ): GroupServicePort;
  /** Publishes of that boot up to here are in the log. */
  taken(boot: number): number;
  /** The tie is cut; what the node holds stays held until it attaches again or its lease is gone. Idempotent. */
  detach(node: string, boot: number): void;
}

/** What a deposed primary gives back: publishes of its own clients that its log had and that never committed. */
export interface UnconfirmedKeeper {
  /**
   * Takes a copy of the enqueue record at `start` of `bytes`, to be sent again to the next primary. To be called in log order,
   * for every enqueue of this node's own boot that the log had not committed or the service had not appended yet.
   */
  keepPublish(group: number, bytes: Uint8Array, view: DataView, start: number): void;
}

/** Reasons why this node as a whole cannot take more publishes now. */
export interface NodeHealth {
  /** '' or why publishers must wait: the lease is lost, the disk is full or has failed, memory or journal are over their bound. */
  publishStop(): string;
  /** Told when `publishStop` may have changed; besides, it is asked while publishing. */
  onChange(listener: () => void): void;
}

/** Who holds a group, for its queues' status. Node names; '' = no leader. */
export interface GroupMembers {
  membersOf(group: number): { leader: string; members: string[]; online: string[] };
}

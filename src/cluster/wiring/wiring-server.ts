/**
 * The primary's end of wiring operations: while this node leads the system group it takes them from all nodes, has them put
 * into the log in order, and answers each when every in-sync member has applied it (rule 15).
 */
import type { Clock, Timer } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import { Refusal } from '../../base/errors.js';
import type { QueueObject } from '../../model/wiring/objects.js';
import {
  decodeOperation,
  encodeAnswer,
  type WiringAnswer,
  type WiringOperation,
} from '../../model/wiring/operations.js';
import { goneMax } from '../../model/wiring/plan-node.js';
import { WiringSequencer } from '../../model/wiring/sequencer.js';
import type { WiringTables } from '../../model/wiring/tables.js';
import type { Frame } from '../link/frame.js';
import { FrameType } from '../link/frame-types.js';
import type { Link } from '../link/link.js';
import type { Links } from '../link/links.js';
import type { BootLives, SystemGroup, SystemLeader } from './ports.js';
import { SystemLog } from './system-log.js';

export interface WiringServerOptions {
  system: SystemGroup;
  tables: WiringTables;
  /** The group for a new queue; an exclusive one (`queue.owner`) belongs into its node's local group. */
  chooseGroup(queue: QueueObject, node: string): number | undefined;
  /** Replicas that a queue may have, at most. */
  replicasMax(): number;
  /** The protocol version in use. */
  version(): number;
  lives: BootLives;
  links: Links | undefined;
  clock: Clock;
  logger: Logger;
}

type Answered = (answer: WiringAnswer) => void;

/** How often a leader looks for what goes with a node that is gone. */
const orphanPeriodMs = 250;

export class WiringServer {
  private readonly options: WiringServerOptions;
  private leader: SystemLeader | undefined;
  private sequencer: WiringSequencer | undefined;
  private orphans: Timer | undefined;
  /** Boots for which a `nodeGone` is on its way. */
  private readonly reporting = new Set<number>();

  constructor(options: WiringServerOptions) {
    this.options = options;
    options.system.onProgress(() => this.progress());
    options.links?.handle(FrameType.wiringRequest, (link, frame) => this.request(link, frame));
    this.progress();
  }

  /** Takes an operation; `answered` is called once, now or later. */
  submit(operation: WiringOperation, answered: Answered): void {
    if (this.sequencer === undefined || this.leader?.appender.mayAct() !== true) {
      answered({ result: 'retry', reason: 'this node does not lead the system group' });
      return;
    }
    this.sequencer.submit(operation, answered);
  }

  close(): void {
    this.lead(undefined);
  }

  private progress(): void {
    const leader = this.options.system.leader();
    if (leader?.epoch !== this.leader?.epoch) this.lead(leader);
    if (leader !== undefined) this.sequencer?.committed(leader.appliedEverywhere);
  }

  private lead(leader: SystemLeader | undefined): void {
    this.leader = leader;
    this.sequencer?.failed('the system group has another primary now');
    this.sequencer = undefined;
    this.orphans?.cancel();
    this.orphans = undefined;
    if (leader === undefined) return;
    const { tables, chooseGroup, replicasMax, version, lives, clock } = this.options;
    const log = new SystemLog(leader.appender);
    const isOver = (node: string, boot: number): boolean => lives.isOver(node, boot);
    this.sequencer = new WiringSequencer({
      tables,
      log,
      inherited: leader.inherited,
      chooseGroup,
      replicasMax,
      version,
      isOver,
      isAlone: this.options.links === undefined,
    });
    this.orphans = clock.every(orphanPeriodMs, () => this.reportGone());
  }

  /** Deletes what goes with boots that are over; if that is much, one operation after the other. */
  private reportGone(): void {
    for (const { node, boot, objects } of this.options.tables.boots.all()) {
      if (this.reporting.has(boot) || !this.options.lives.isOver(node, boot)) continue;
      this.reporting.add(boot);
      const isMany = objects.size > goneMax;
      this.submit({ op: 'nodeGone', node, boot }, ({ result }) => {
        this.reporting.delete(boot);
        if (result === 'done' && isMany) this.options.clock.after(0, () => this.reportGone());
      });
    }
  }

  private request(link: Link, frame: Frame): void {
    const id = frame.view.getUint32(frame.start, true);
    let operation: WiringOperation;
    try {
      operation = decodeOperation(frame.bytes.subarray(frame.start + 4, frame.end));
    } catch (error) {
      const text = `the wiring operation cannot be read: ${(error as Error).message}`;
      this.options.logger.warn(text, { node: link.peer.node });
      return sendAnswer(link, id, { result: 'refused', kind: Refusal.internalError, text });
    }
    this.submit(operation, (answer) => sendAnswer(link, id, answer));
  }
}

/** u32 request number, JSON of the answer. */
function sendAnswer(link: Link, id: number, answer: WiringAnswer): void {
  const json = encodeAnswer(answer);
  const out = link.beginFrame(FrameType.wiringAnswer, 0, 4 + json.length);
  out.view.setUint32(out.offset, id, true);
  out.bytes.set(json, out.offset + 4);
}

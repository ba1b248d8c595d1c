/**
 * The primary's end of wiring operations: while this node leads the system group it takes them from all nodes, has them put
 * into the log in order, and answers each when every in-sync member has applied it (rule 15).
 */
import { Refusal } from '../../base/errors.js';
import type { QueueObject } from '../../model/wiring/objects.js';
import {
  decodeOperation,
  encodeAnswer,
  type WiringAnswer,
  type WiringOperation,
} from '../../model/wiring/operations.js';
import { WiringSequencer } from '../../model/wiring/sequencer.js';
import type { Frame } from '../link/frame.js';
import { FrameType } from '../link/frame-types.js';
import type { Link } from '../link/link.js';
import type { Links } from '../link/links.js';
import { LeaderChores, type LeaderChoresOptions } from './leader-chores.js';
import type { SystemGroup, SystemLeader } from './ports.js';
import { SystemLog } from './system-log.js';

export interface WiringServerOptions extends LeaderChoresOptions {
  system: SystemGroup;
  /** The group for a new queue; an exclusive one (`queue.owner`) belongs into its node's local group. */
  chooseGroup(queue: QueueObject, node: string): number | undefined;
  /** Replicas that a queue may have, at most. */
  replicasMax(): number;
  links: Links | undefined;
}

type Answered = (answer: WiringAnswer) => void;

export class WiringServer {
  private readonly options: WiringServerOptions;
  private leader: SystemLeader | undefined;
  private sequencer: WiringSequencer | undefined;
  private chores: LeaderChores | undefined;

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
    this.chores?.close();
    this.chores = undefined;
    if (leader === undefined) return;
    const { tables, chooseGroup, replicasMax, version, lives } = this.options;
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
    this.chores = new LeaderChores(this.options, (operation, answered) => this.submit(operation, answered));
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

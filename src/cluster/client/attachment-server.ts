/**
 * The primary's end of other nodes' attachments: accepts them for the groups that this node leads, and turns their frames
 * into calls of the group's service.
 *
 * A node may hear of a new primary before that one is ready: its request then waits here until this node leads in the epoch
 * asked for. What comes with another number than the present attachment's is dropped (rule 13), in the same epoch too.
 */
import type { Rules } from '../../base/rules.js';
import type { Turn } from '../../base/turn.js';
import { enqueueHeaderBytes, EnqueueView } from '../../log/record.js';
import type { GroupServicePort, HeldMessage, Naming, SubscribeOptions } from '../../model/group-port.js';
import type { DeadLettering } from '../../model/queue/queue-traits.js';
import type { TerminusOperation } from '../../model/terminus/operations.js';
import { isUnit, messagesStart, unitHeaderBytes } from '../../model/unit.js';
import { argumentsFromJson, type Json } from '../../model/wiring/arguments.js';
import { type Frame, FrameError } from '../link/frame.js';
import type { Link } from '../link/link.js';
import type { Links } from '../link/links.js';
import { bodyIn, decodeText, FrameType, heldBytes, sendIdValue, settlementBytes } from './frames.js';
import type { AttachableService, GroupDirectory } from './ports.js';
import { RemoteClient } from './remote-client.js';
import type { Settlement } from './settlement-ring.js';
import { publishRecords, settleAs } from './tie.js';

/** One node's attachment to one group, asked for or accepted. */
interface Attachment {
  readonly link: Link;
  readonly group: number;
  readonly number: number;
  readonly epoch: number;
  readonly confirmed: number;
  held: HeldMessage[];
  readonly client: RemoteClient;
  /** All that is held was named. */
  complete: boolean;
  service: AttachableService | undefined;
  port: GroupServicePort | undefined;
}

export interface AttachmentServerOptions {
  turn: Turn;
  rules: Rules;
  directory: GroupDirectory;
  links: Links;
}

export class AttachmentServer {
  private readonly options: AttachmentServerOptions;
  /** By link and group. */
  private readonly attachments = new Map<Link, Map<number, Attachment>>();

  constructor(options: AttachmentServerOptions) {
    this.options = options;
    const { links, directory } = options;
    links.observe({ down: (link) => this.linkDown(link) });
    links.handle(FrameType.attach, (link, frame) => this.attach(link, frame));
    for (const type of callTypes) links.handle(type, (link, frame) => this.called(link, frame));
    directory.onChange((group) => this.changed(group));
  }

  /** The group's service has broken the tie to the node: the node is told, and attaches again. */
  broken(group: number, node: string, boot: number): void {
    for (const [link, ofLink] of this.attachments) {
      const attachment = ofLink.get(group);
      if (attachment === undefined || link.peer.node !== node || link.peer.boot !== boot) continue;
      this.refuse(attachment, attachment.epoch);
    }
  }

  private attach(link: Link, frame: Frame): void {
    const { view, start, end } = frame;
    const number = view.getUint32(start, true);
    let ofLink = this.attachments.get(link);
    if (ofLink === undefined) {
      ofLink = new Map();
      this.attachments.set(link, ofLink);
    }
    let attachment = ofLink.get(frame.group);
    if (attachment === undefined || attachment.number !== number) {
      attachment?.client.close();
      attachment = {
        link,
        group: frame.group,
        number,
        epoch: view.getFloat64(start + 8, true),
        confirmed: view.getFloat64(start + 16, true),
        held: [],
        client: new RemoteClient(link, frame.group, number, this.options.turn),
        complete: false,
        service: undefined,
        port: undefined,
      };
      ofLink.set(frame.group, attachment);
    }
    for (let at = start + 24; at + heldBytes <= end; at += heldBytes)
      attachment.held.push({
        incarnation: view.getFloat64(at, true),
        position: view.getFloat64(at + 8, true),
        naming: view.getUint32(at + 16, true) as Naming,
      });
    attachment.complete = view.getUint32(start + 4, true) === 1;
    if (attachment.complete) this.decide(attachment);
  }

  /** Accepts or refuses, or lets wait what asks for an epoch that this node does not lead in yet. */
  private decide(attachment: Attachment): void {
    const { directory } = this.options;
    const { link, group, epoch, client } = attachment;
    const led = directory.led(group);
    if (led?.epoch === epoch) {
      client.attached(epoch, led.service.taken(link.peer.boot));
      attachment.service = led.service;
      attachment.port = led.service.attach(
        link.peer.node,
        link.peer.boot,
        client,
        attachment.held,
        attachment.confirmed,
      );
      attachment.held = [];
      return;
    }
    const known = directory.leadership(group)?.epoch ?? 0;
    if (known > epoch) this.refuse(attachment, known);
  }

  private refuse(attachment: Attachment, epoch: number): void {
    const { link, group, number, client } = attachment;
    client.close();
    this.attachments.get(link)?.delete(group);
    sendIdValue(link, FrameType.refused, group, number, 0, epoch);
  }

  /** What this node leads has changed. */
  private changed(group: number): void {
    const epoch = this.options.directory.led(group)?.epoch;
    for (const ofLink of this.attachments.values()) {
      const attachment = ofLink.get(group);
      if (attachment === undefined) continue;
      if (attachment.port === undefined) {
        if (attachment.complete) this.decide(attachment);
      } else if (attachment.epoch !== epoch) {
        this.end(attachment);
      }
    }
  }

  /** We lead no more: the node is told that nothing follows, behind everything that was sent before (rule 20). */
  private end(attachment: Attachment): void {
    const { link, group, number, client } = attachment;
    client.close();
    this.attachments.get(link)?.delete(group);
    const epoch = this.options.directory.leadership(group)?.epoch ?? 0;
    sendIdValue(link, FrameType.moved, group, number, 0, epoch);
  }

  /** What the node's clients hold stays theirs: the node may come back. */
  private linkDown(link: Link): void {
    const ofLink = this.attachments.get(link);
    if (ofLink === undefined) return;
    this.attachments.delete(link);
    for (const attachment of ofLink.values()) {
      attachment.client.close();
      attachment.service?.detach(link.peer.node, link.peer.boot);
    }
  }

  private called(link: Link, frame: Frame): void {
    const attachment = this.attachments.get(link)?.get(frame.group);
    const port = attachment?.port;
    if (attachment === undefined || port === undefined) return;
    const { bytes, view, start, end } = frame;
    if (view.getUint32(start, true) !== attachment.number) return;
    switch (frame.type) {
      case FrameType.publish:
        return publishRecords(port, bytes, view, start + 16, end, view.getFloat64(start + 8, true));
      case FrameType.transact:
        checkUnit(bytes, view, start + 16, end);
        return port.transact(bytes, view, start + 16, view.getFloat64(start + 8, true));
      case FrameType.settle:
        for (let at = start + 4; at + settlementBytes <= end; at += settlementBytes)
          settleAs(port, bytes[at] as Settlement, view.getFloat64(at + 1, true), view.getFloat64(at + 9, true));
        return;
      case FrameType.modify: {
        const modification = {
          isCounted: view.getUint32(start + 4, true) === 1,
          annotations: bytes.slice(start + 24, end),
        };
        return port.modify(view.getFloat64(start + 8, true), view.getFloat64(start + 16, true), modification);
      }
      default:
        call(port, frame, view.getUint32(start + 4, true));
    }
  }
}

/** Throws FrameError if the unit does not end there, or its messages do not end with it. */
function checkUnit(bytes: Uint8Array, view: DataView, start: number, end: number): void {
  const isWhole = end - start >= unitHeaderBytes && isUnit(bytes, start) && view.getUint32(start, true) === end - start;
  let at = isWhole ? messagesStart(view, start) : Number.POSITIVE_INFINITY;
  while (at < end && end - at >= enqueueHeaderBytes) {
    const { bodyStart, bodyLength, length } = record.set(bytes, view, at);
    if (bodyStart + bodyLength !== at + length) break;
    at += length;
  }
  if (at !== end) throw new FrameError('a transaction is cut short, or too long');
}

const record = new EnqueueView();

/** The calls that come one by one: `id` is the subscriber's or the request's number. */
function call(port: GroupServicePort, frame: Frame, id: number): void {
  const { bytes, view, start, end } = frame;
  switch (frame.type) {
    case FrameType.grant:
      return port.grant(id, view.getFloat64(start + 8, true));
    case FrameType.browseFrom:
      return port.browseFrom(id, view.getFloat64(start + 8, true));
    case FrameType.drain:
      return port.drain(id);
    case FrameType.unsubscribe:
      return port.unsubscribe(id);
    case FrameType.get: {
      const noAck = bytes[start + 24] === 1;
      return port.get(id, view.getFloat64(start + 8, true), view.getFloat64(start + 16, true), noAck);
    }
    case FrameType.count: {
      const isUse = end - start > 24 && bytes[start + 24] === 1;
      return port.count(id, view.getFloat64(start + 8, true), view.getFloat64(start + 16, true), isUse);
    }
    case FrameType.bodyRead: {
      const from = view.getUint32(start + 12, true);
      return port.readBody(id, bodyIn(view, start), from, view.getUint32(start + 24, true));
    }
    case FrameType.openUploads: {
      const open = new Map<number, number>();
      for (let at = start + 16; at + 16 <= end; at += 16)
        open.set(view.getFloat64(at, true), view.getFloat64(at + 8, true));
      return port.openUploads(view.getFloat64(start + 8, true), open);
    }
    case FrameType.bodyHold:
      return port.holdBody(bodyIn(view, start));
    case FrameType.bodyDone:
      return port.doneWithBody(bodyIn(view, start));
    case FrameType.purge: {
      const to = end === start + 24 ? undefined : (JSON.parse(decodeText(bytes, start + 24, end)) as DeadLettering);
      return port.purge(id, view.getFloat64(start + 8, true), view.getFloat64(start + 16, true), to);
    }
    case FrameType.terminus: {
      const operation = decodeTerminus(decodeText(bytes, start + 24, end));
      return port.terminus(id, view.getFloat64(start + 8, true), view.getFloat64(start + 16, true), operation);
    }
    case FrameType.subscribe: {
      const options = decodeOptions(decodeText(bytes, start + 32, end), view.getFloat64(start + 24, true));
      return port.subscribe(id, view.getFloat64(start + 8, true), view.getFloat64(start + 16, true), options);
    }
  }
}

function decodeTerminus(text: string): TerminusOperation {
  try {
    return JSON.parse(text) as TerminusOperation;
  } catch (error) {
    throw new FrameError(`what is asked of a terminus cannot be read: ${(error as Error).message}`);
  }
}

function decodeOptions(text: string, credit: number): SubscribeOptions {
  try {
    const json = JSON.parse(text) as { consumerTag: string; noAck: boolean; exclusive: boolean; arguments: Json };
    return { ...json, arguments: argumentsFromJson(json.arguments), credit };
  } catch (error) {
    throw new FrameError(`a subscription's options cannot be read: ${(error as Error).message}`);
  }
}

const callTypes = [
  FrameType.publish,
  FrameType.transact,
  FrameType.settle,
  FrameType.subscribe,
  FrameType.grant,
  FrameType.unsubscribe,
  FrameType.get,
  FrameType.count,
  FrameType.purge,
  FrameType.bodyRead,
  FrameType.bodyHold,
  FrameType.bodyDone,
  FrameType.openUploads,
  FrameType.browseFrom,
  FrameType.modify,
  FrameType.drain,
  FrameType.terminus,
];

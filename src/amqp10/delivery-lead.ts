import { type EnqueueView, RecordFlag } from '../log/record.js';
import { Code } from './codec/format-codes.js';
import { Descriptor, type MessageView } from './codec/index.js';

/** Descriptor, list, and its five fields at their longest. */
const leadBytesMax = 24;

/**
 * The header section of a delivery (§3.2.1): what the message said of itself, whether somebody had it before, and how often it came back.
 * Filled anew for each delivery.
 */
export class DeliveryLead {
  readonly bytes: Uint8Array = new Uint8Array(leadBytesMax);
  length = 0;
  private readonly view: DataView = new DataView(this.bytes.buffer);

  set(message: EnqueueView, { priority, ttlMs }: MessageView, redelivered: boolean, returns: number): this {
    const { bytes, view } = this;
    bytes[0] = Code.described;
    bytes[1] = Code.smallUlong;
    bytes[2] = Descriptor.header;
    bytes[3] = Code.list8;
    bytes[5] = 5;
    bytes[6] = (message.flags & RecordFlag.persistent) === 0 ? Code.false : Code.true;
    let at = 7;
    if (priority >= 0) {
      bytes[at++] = Code.ubyte;
      bytes[at++] = priority;
    } else bytes[at++] = Code.null;
    if (ttlMs >= 0) {
      bytes[at++] = Code.uint;
      view.setUint32(at, ttlMs);
      at += 4;
    } else bytes[at++] = Code.null;
    bytes[at++] = redelivered ? Code.false : Code.true;
    bytes[at++] = Code.uint;
    view.setUint32(at, returns);
    at += 4;
    bytes[4] = at - 5;
    this.length = at;
    return this;
  }
}

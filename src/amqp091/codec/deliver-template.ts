import { ByteWriter } from '../../wire/byte-writer.js';
import { Frame, MethodId } from './generated/ids.js';
import { writeShortString } from './strings.js';

/** What all deliveries of one consumer begin with: frame header (size open), method id, consumer tag. Built once. */
export class DeliverTemplate {
  readonly channel: number;
  readonly bytes: Uint8Array;
  readonly view: DataView;

  /** Throws EncodeError if the tag has more than 255 bytes. */
  constructor(channel: number, consumerTag: string) {
    const writer = new ByteWriter();
    writer.u8(Frame.method);
    writer.u16(channel);
    writer.u32(0);
    writer.u32(MethodId.basicDeliver);
    writeShortString(writer, consumerTag);
    this.channel = channel;
    this.bytes = writer.take().slice();
    this.view = new DataView(this.bytes.buffer);
  }
}

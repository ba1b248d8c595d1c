/**
 * What a channel writes. The body of a large message comes part by part, over many turns; until its end nothing else may be written on its
 * channel (§4.2.6), so what is to go out there gathers aside, further large messages too. Other channels go on.
 *
 *   deliver header │ body body ... body │ gathered │ body ... body │ gathered │
 */
import type { BodySink, BodySource } from '../model/broker.js';
import type { ChannelHost } from './channel-host.js';
import { FrameWriter, ProtocolError, ReplyCode } from './codec/index.js';

/** Parts of a body that are asked for ahead. */
const partsAhead = 4;

interface Waiting {
  readonly source: BodySource;
  /** Where in what has gathered it begins. */
  at: number;
}

export class ChannelOutput implements BodySink {
  /** Whatever the channel says is written to this. */
  frames: FrameWriter;
  private readonly host: ChannelHost;
  private readonly channel: number;
  /** Those of the connection that write a body. */
  private readonly writing: Map<number, ChannelOutput>;
  private source: BodySource | null = null;
  private gathered: FrameWriter | null = null;
  private readonly waiting: Waiting[] = [];
  /** Parts that were not asked for, since the client does not read. */
  private owed = 0;

  constructor(host: ChannelHost, channel: number, writing: Map<number, ChannelOutput>) {
    this.host = host;
    this.channel = channel;
    this.writing = writing;
    this.frames = host.frames;
  }

  /** The frames of a large message up to its header were written: its body follows. */
  body(source: BodySource): void {
    if (this.source === null) this.begin(source);
    else this.waiting.push({ source, at: this.gathered!.output.length });
  }

  /** The client reads again. */
  goOn(): void {
    for (; this.owed > 0; this.owed--) this.source?.more();
  }

  /** The connection ends. */
  close(): void {
    this.source?.close();
    for (const { source } of this.waiting) source.close();
    this.waiting.length = 0;
    this.source = null;
    this.end();
  }

  // ---- BodySink ----

  part(bytes: Uint8Array, start: number, end: number, isLast: boolean): void {
    const { host } = this;
    host.frames.body(this.channel, bytes, start, end);
    const isRoom = host.output.wrotePart();
    if (isLast) this.next();
    else if (isRoom) this.source!.more();
    else this.owed++;
  }

  /** A body cannot be cut short. */
  lost(reason: string): void {
    this.host.fail(new ProtocolError(ReplyCode.internalError, reason));
  }

  // ---- inside ----

  private begin(source: BodySource): void {
    if (this.gathered === null) {
      this.gathered = new FrameWriter();
      this.gathered.frameMax = this.host.frames.frameMax;
      this.frames = this.gathered;
      this.writing.set(this.channel, this);
      this.host.output.gathered.add(this.gathered.output);
    }
    this.source = source;
    this.owed = 0;
    source.read(this, partsAhead);
  }

  /** A body has ended: what has gathered follows, up to the next one. */
  private next(): void {
    const { output } = this.gathered!;
    const next = this.waiting.shift();
    const end = next?.at ?? output.length;
    this.host.frames.output.raw(output.bytes, 0, end);
    this.host.output.touch();
    output.drop(end);
    for (const one of this.waiting) one.at -= end;
    this.source = null;
    if (next === undefined) this.end();
    else this.begin(next.source);
  }

  private end(): void {
    if (this.gathered !== null) this.host.output.gathered.delete(this.gathered.output);
    this.owed = 0;
    this.gathered = null;
    this.frames = this.host.frames;
    this.writing.delete(this.channel);
  }
}

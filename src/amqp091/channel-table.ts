import { Channel } from './channel.js';
import type { ChannelHost } from './channel-host.js';
import { ChannelOutput } from './channel-output.js';
import { ChannelOpenOk, Frame, MethodId, methodIdAt, ProtocolError, ReplyCode } from './codec/index.js';

/** The channels of a connection by number: opens them and gives each its frames. */
export class ChannelTable {
  private readonly host: ChannelHost;
  private readonly channelMax: number;
  private readonly channels: (Channel | undefined)[] = [];
  private openCount = 0;
  /** Those that write the body of a large message, which may outlive its channel. */
  private readonly writing = new Map<number, ChannelOutput>();

  /** @param channelMax as negotiated; 0 = no limit but the numbers themselves. */
  constructor(host: ChannelHost, channelMax: number) {
    this.host = host;
    this.channelMax = channelMax;
  }

  get count(): number {
    return this.openCount;
  }

  get(number: number): Channel | undefined {
    return this.channels[number];
  }

  /** No channel waits for the broker or has frames queued. */
  get idle(): boolean {
    return this.every((channel) => channel.idle);
  }

  every(is: (channel: Channel) => boolean): boolean {
    return this.channels.every((channel) => channel === undefined || is(channel));
  }

  // Frames of channels other than 0, payload [start, end). They throw ProtocolError for the connection.

  method(number: number, bytes: Uint8Array, start: number, end: number): void {
    const channel = this.channels[number];
    if (channel !== undefined) channel.method(bytes, start, end);
    else this.withoutChannel(number, methodIdAt(bytes, start, end));
  }

  header(number: number, bytes: Uint8Array, start: number, end: number): void {
    const channel = this.channels[number];
    if (channel === undefined) throw notOpen(number);
    channel.header(bytes, start, end);
  }

  body(number: number, bytes: Uint8Array, start: number, end: number): void {
    const channel = this.channels[number];
    if (channel === undefined) throw notOpen(number);
    channel.body(bytes, start, end);
  }

  dispatch(number: number, type: number, bytes: Uint8Array, start: number, end: number): void {
    if (type === Frame.method) this.method(number, bytes, start, end);
    else if (type === Frame.header) this.header(number, bytes, start, end);
    else this.body(number, bytes, start, end);
  }

  /** The channel's number is free again. */
  remove(number: number): void {
    if (this.channels[number] === undefined) return;
    this.channels[number] = undefined;
    this.openCount--;
    this.host.counters.channelsClosed++;
    this.host.occupancy.closeChannel(this.host.user);
  }

  forEach(visit: (channel: Channel) => void): void {
    for (const channel of this.channels) if (channel !== undefined) visit(channel);
  }

  /** The client reads again: bodies of large messages go on. */
  roomForBodies(): void {
    for (const out of this.writing.values()) out.goOn();
  }

  /** The connection ends, and all its channels with it. */
  dispose(): void {
    for (const out of this.writing.values()) out.close();
    this.forEach((channel) => {
      channel.dispose();
      this.remove(channel.number);
    });
  }

  private withoutChannel(number: number, methodId: number): void {
    // Both sides closed the channel at once: ours was answered already.
    if (methodId === MethodId.channelCloseOk) return;
    if (methodId !== MethodId.channelOpen) throw notOpen(number);
    if (this.channelMax > 0 && number > this.channelMax) {
      const text = `channel ${number} is above the negotiated channel_max (${this.channelMax})`;
      throw new ProtocolError(ReplyCode.notAllowed, text, methodId);
    }
    const { counters, limits } = this.host;
    if (counters.channelsOpened - counters.channelsClosed >= limits.allChannelsMax) {
      const text = `all connections have ${limits.allChannelsMax} channels, there may be no more`;
      throw new ProtocolError(ReplyCode.notAllowed, text, methodId);
    }
    const full = this.host.occupancy.openChannel(this.host.user);
    if (full !== '') throw new ProtocolError(ReplyCode.notAllowed, full, methodId);
    const out = this.writing.get(number) ?? new ChannelOutput(this.host, number, this.writing);
    this.channels[number] = new Channel(this.host, number, out);
    this.openCount++;
    counters.channelsOpened++;
    out.frames.method(number, new ChannelOpenOk());
    this.host.output.touch();
  }
}

function notOpen(number: number): ProtocolError {
  return new ProtocolError(ReplyCode.channelError, `expected 'channel.open' on channel ${number}`);
}

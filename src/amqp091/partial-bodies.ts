import { MethodId, ProtocolError, ReplyCode } from './codec/index.js';
import type { Limits } from './limits.js';

/** A connection, as far as it holds bodies. */
export interface BodyHolder {
  /** Ends it with connection.close. */
  fail(error: ProtocolError): void;
}

/**
 * Bodies in several frames that have come in part: how many bytes of them each connection holds, and all together. A connection
 * over its limit ends. Over the limit of all, whoever holds the most ends, so that many that begin and never finish do
 * not keep out others.
 */
export class PartialBodies {
  private readonly limits: Limits;
  private readonly held: Map<BodyHolder, number> = new Map();
  private total = 0;
  /** Large messages that have come in part: they are not held here, but on their way. */
  private readonly uploads: Map<BodyHolder, number> = new Map();
  private allUploads = 0;

  constructor(limits: Limits) {
    this.limits = limits;
  }

  /** Bytes that all connections hold. */
  get bytes(): number {
    return this.total;
  }

  /** `holder` is about to hold `bytes` more. Throws ProtocolError 506, and nothing is counted, if it may not. */
  add(holder: BodyHolder, bytes: number): void {
    const { partialBytesMax, allPartialBytesMax } = this.limits;
    const held = (this.held.get(holder) ?? 0) + bytes;
    if (held > partialBytesMax)
      throw tooMuch(`the channels of this connection hold more than ${partialBytesMax} bytes`);
    if (this.total + bytes > allPartialBytesMax) this.relieve(holder, held);
    this.held.set(holder, held);
    this.total += bytes;
  }

  remove(holder: BodyHolder, bytes: number): void {
    const held = (this.held.get(holder) ?? 0) - bytes;
    if (held > 0) this.held.set(holder, held);
    else this.held.delete(holder);
    this.total -= bytes;
  }

  /** `holder` begins to send a large message. Throws ProtocolError 506, and nothing is counted, if it may not. */
  beginUpload(holder: BodyHolder): void {
    const { uploadsMax, allUploadsMax } = this.limits;
    const own = this.uploads.get(holder) ?? 0;
    if (own >= uploadsMax) throw tooMany(`this connection sends ${own} large messages at a time`);
    if (this.allUploads >= allUploadsMax) throw tooMany(`clients send ${this.allUploads} large messages at a time`);
    this.uploads.set(holder, own + 1);
    this.allUploads++;
  }

  endUpload(holder: BodyHolder): void {
    const left = this.uploads.get(holder)! - 1;
    if (left > 0) this.uploads.set(holder, left);
    else this.uploads.delete(holder);
    this.allUploads--;
  }

  private relieve(asking: BodyHolder, wanted: number): void {
    let largest = asking;
    let most = wanted;
    for (const [holder, held] of this.held) {
      if (held <= most) continue;
      largest = holder;
      most = held;
    }
    const text = `all connections hold more than ${this.limits.allPartialBytesMax} bytes, this one most of them`;
    if (largest === asking) throw tooMuch(text);
    largest.fail(tooMuch(text));
  }
}

function tooMany(what: string): ProtocolError {
  return new ProtocolError(ReplyCode.resourceError, `${what}, there may be no more`, MethodId.basicPublish);
}

function tooMuch(what: string): ProtocolError {
  return new ProtocolError(ReplyCode.resourceError, `${what} of unfinished messages`, MethodId.basicPublish);
}

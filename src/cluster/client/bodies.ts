/**
 * The bodies of a group's large messages, as this node's clients read them: part by part from the group's primary, whoever that is. A part
 * has the same index everywhere, so that the next primary goes on where the last one was lost.
 */
import { type Manifest, manifestOf } from '../../log/large.js';
import type { EnqueueView } from '../../log/record.js';
import type { BodySink, BodySource } from '../../model/broker.js';
import type { ServiceControl } from './tie.js';

/** What it needs of its group's client. */
interface BodiesClient {
  /** The service of the present attachment, if there is one. */
  readonly port: ServiceControl | undefined;
  /** Publishes up to here are safe; and the last one that there is. */
  readonly confirmedSequence: number;
  readonly lastSequence: number;
}

/** Of an upload that goes on. */
const isOpen = Number.POSITIVE_INFINITY;

export class Bodies {
  private readonly client: BodiesClient;
  private readonly readers = new Map<number, BodyReader>();
  private lastReader = 0;
  private lastUpload = 0;
  /** With the publish that has ended each: until that is safe the primary may need to know. */
  private readonly uploads = new Map<number, number>();
  /** Of the message that is being handed on: the primary keeps it until it hears that it need not. */
  private fresh: Manifest | undefined;

  constructor(client: BodiesClient) {
    this.client = client;
  }

  /** Bodies that are being read. */
  get reading(): number {
    return this.readers.size;
  }

  /** A number for a body that this node sends to the group. */
  newUpload(): number {
    this.uploads.set(++this.lastUpload, isOpen);
    return this.lastUpload;
  }

  /** The upload has ended with the last publish. */
  uploadEnded(upload: number): void {
    this.uploads.set(upload, this.client.lastSequence);
    this.forgetUploads();
  }

  private forgetUploads(): void {
    const { confirmedSequence } = this.client;
    for (const [upload, sequence] of this.uploads) if (sequence <= confirmedSequence) this.uploads.delete(upload);
  }

  /** A large message has come from the primary, and is about to be handed on. `came` must follow. */
  coming(message: EnqueueView): void {
    this.fresh = manifestOf(message.view, message.start);
  }

  /** A message was handed on. If it was a large one, and nobody wants to read its body, that need not be kept. */
  came(): void {
    if (this.fresh === undefined) return;
    this.client.port?.doneWithBody(this.fresh);
    this.fresh = undefined;
  }

  /** The body of the large message that is being handed on. */
  open(message: EnqueueView): BodySource {
    this.fresh = undefined;
    return this.openFresh(manifestOf(message.view, message.start));
  }

  /** A body that was sent by this node, all of which the primary has, and which it keeps. */
  openOwn(manifest: Manifest): BodySource {
    this.client.port?.holdBody(manifest);
    return this.openFresh(manifest);
  }

  private openFresh(manifest: Manifest): BodySource {
    this.lastReader = (this.lastReader % 0xffff_ffff) + 1;
    const reader = new BodyReader(this.lastReader, manifest, this.client, (ended) => this.readers.delete(ended));
    this.readers.set(this.lastReader, reader);
    return reader;
  }

  /** There is a new attachment: what was asked for is asked for again. */
  attached(): void {
    this.forgetUploads();
    if (this.lastUpload > 0) this.client.port?.openUploads(this.lastUpload, this.uploads);
    for (const reader of this.readers.values()) reader.attached();
  }

  part(reader: number, index: number, bytes: Uint8Array, start: number, end: number): void {
    this.readers.get(reader)?.part(index, bytes, start, end);
  }

  gone(reader: number): void {
    this.readers.get(reader)?.lost('the rest of a large message is gone: its queue was deleted, or it was lost');
  }

  /** The group is gone for ever. */
  abandon(reason: string): void {
    for (const reader of [...this.readers.values()]) reader.lost(reason);
  }
}

class BodyReader implements BodySource {
  readonly size: number;
  private readonly number: number;
  private readonly manifest: Manifest;
  private readonly client: BodiesClient;
  private readonly ended: (reader: number) => void;
  private sink: BodySink | undefined;
  /** Parts asked for, and those that have come. */
  private asked = 0;
  private received = 0;
  private isOver = false;

  constructor(number: number, manifest: Manifest, client: BodiesClient, ended: (reader: number) => void) {
    this.number = number;
    this.manifest = manifest;
    this.size = manifest.size;
    this.client = client;
    this.ended = ended;
  }

  read(sink: BodySink, ahead: number): void {
    this.sink = sink;
    for (let i = 0; i < ahead; i++) this.more();
  }

  more(): void {
    if (this.isOver || this.asked >= this.manifest.count) return;
    this.asked++;
    this.client.port?.readBody(this.number, this.manifest, this.asked - 1, 1);
  }

  close(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.ended(this.number);
    this.client.port?.doneWithBody(this.manifest);
  }

  attached(): void {
    const { port } = this.client;
    port?.holdBody(this.manifest);
    if (this.asked > this.received)
      port?.readBody(this.number, this.manifest, this.received, this.asked - this.received);
  }

  part(index: number, bytes: Uint8Array, start: number, end: number): void {
    if (this.isOver || index !== this.received) return;
    const isLast = ++this.received === this.manifest.count;
    if (isLast) this.close();
    this.sink?.part(bytes, start, end, isLast);
  }

  lost(reason: string): void {
    if (this.isOver) return;
    this.close();
    this.sink?.lost(reason);
  }
}

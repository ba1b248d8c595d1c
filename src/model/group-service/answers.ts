import { Ring } from '../../base/ring.js';
import type { Lsn } from '../../log/lsn.js';
import type { GroupClientPort } from '../group-port.js';
import { type Attachment, AttachmentState } from './attachment.js';

type Send = (client: GroupClientPort) => void;

class Answer {
  readonly attachment: Attachment;
  readonly send: Send;
  /** It waits for this commit. */
  readonly lsn: Lsn;

  constructor(attachment: Attachment, send: Send, lsn: Lsn) {
    this.attachment = attachment;
    this.send = send;
    this.lsn = lsn;
  }

  give(): void {
    if (this.attachment.state === AttachmentState.attached) this.send(this.attachment.client);
  }
}

/** Answers to requests that are asked one at a time (subscribe, purge, ...), until they may be sent. */
export class Answers {
  private readonly due = new Ring<Answer>();
  /** Those that answer for what is in this turn's settlements, whose lsn is not known yet. */
  private unmarked: Answer[] = [];
  private readonly committing = new Ring<Answer>();

  add(attachment: Attachment, send: Send): void {
    this.due.push(new Answer(attachment, send, 0));
  }

  /** To be sent when everything that is in the log at the end of this turn is committed. */
  addAfterCommit(attachment: Attachment, send: Send): void {
    this.unmarked.push(new Answer(attachment, send, 0));
  }

  /** The end of the log at the end of this turn. */
  mark(lsn: Lsn): void {
    if (this.unmarked.length === 0) return;
    for (const answer of this.unmarked) this.committing.push(new Answer(answer.attachment, answer.send, lsn));
    this.unmarked = [];
  }

  sendDue(): void {
    for (let answer = this.due.shift(); answer !== undefined; answer = this.due.shift()) answer.give();
  }

  sendCommitted(committed: Lsn): void {
    while (this.committing.length > 0 && this.committing.peek()!.lsn <= committed) this.committing.shift()!.give();
  }

  clear(): void {
    this.due.clear();
    this.committing.clear();
    this.unmarked = [];
  }
}

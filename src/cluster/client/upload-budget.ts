/** What it tells an upload. */
export interface BudgetedUpload {
  /** There is room again. */
  relieved(): void;
}

/**
 * Bytes of parts of all uploads of this node that are not safe yet. Many uploads at once would fill what the journal may have in hand, and
 * keep everybody else who publishes waiting: while there is too much of it each upload may have little on its way.
 */
export class UploadBudget {
  private readonly bytesMax: number;
  private bytes = 0;
  private isOver = false;
  private readonly waiting = new Set<BudgetedUpload>();

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** There is too much, until half of it is safe. */
  get isTight(): boolean {
    return this.isOver;
  }

  take(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes > this.bytesMax) this.isOver = true;
  }

  give(bytes: number): void {
    this.bytes -= bytes;
    if (!this.isOver || this.bytes * 2 > this.bytesMax) return;
    this.isOver = false;
    const waiting = [...this.waiting];
    this.waiting.clear();
    for (const upload of waiting) upload.relieved();
  }

  /** The upload is told when there is room. */
  await(upload: BudgetedUpload): void {
    this.waiting.add(upload);
  }

  forget(upload: BudgetedUpload): void {
    this.waiting.delete(upload);
  }
}

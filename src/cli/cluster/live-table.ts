/** What a running cluster looks like: a table that is redrawn on a terminal; elsewhere a line for each change. */
import { type ClusterView, fetchCluster } from '../api-client.js';
import { renderMembers, renderSummary } from '../status/render.js';

const pollMs = 500;
const notesMax = 8;

export class LiveTable {
  private readonly urls: readonly URL[];
  private readonly output: NodeJS.WriteStream;
  private draw: { (text: string): void; done(): void } | undefined;
  private notes: string[] = [];
  private states: Map<string, string> = new Map();
  private summary = '';
  private timer: NodeJS.Timeout | undefined;
  private closed = false;

  /** @param urls HTTP addresses of the nodes; empty: there is nothing to ask, only notes are shown. */
  constructor(urls: readonly URL[], output: NodeJS.WriteStream) {
    this.urls = urls;
    this.output = output;
  }

  async open(): Promise<void> {
    if (this.output.isTTY) {
      const { createLogUpdate } = await import('log-update');
      this.draw = createLogUpdate(this.output, { showCursor: true });
    }
    await this.refresh();
  }

  /** Something to tell that the nodes do not say themselves. */
  note(text: string): void {
    if (this.closed) return;
    if (this.draw === undefined) this.output.write(`${text}\n`);
    else this.notes = [...this.notes, text].slice(-notesMax);
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    this.draw?.done();
  }

  private async refresh(): Promise<void> {
    const view = await this.ask();
    if (this.closed) return;
    if (this.draw === undefined) this.tell(view);
    else this.redraw(view);
    if (this.urls.length > 0) this.timer = setTimeout(() => void this.refresh(), pollMs);
  }

  /** The view of the first node that answers: all answer the same, save how far joins are. */
  private async ask(): Promise<ClusterView | undefined> {
    for (const url of this.urls) {
      const view = await fetchCluster(url, 1000).catch(() => undefined);
      if (view !== undefined) return view;
    }
    return undefined;
  }

  private redraw(view: ClusterView | undefined): void {
    const table = view === undefined ? 'no node answers' : `${renderMembers(view)}\n\n${renderSummary(view)}`;
    const notes = this.notes.length > 0 ? `\n\n${this.notes.join('\n')}` : '';
    this.draw?.(`\n${table}${notes}\n\nCtrl-C stops all nodes.\n`);
  }

  private tell(view: ClusterView | undefined): void {
    for (const { name, state } of view?.members ?? []) {
      const known = this.states.get(name);
      this.states.set(name, state);
      if (known !== undefined && known !== state) this.output.write(`${name} is ${state}\n`);
    }
    const summary = view === undefined ? (this.urls.length > 0 ? 'no node answers' : '') : renderSummary(view);
    if (summary !== this.summary) this.output.write(`${summary}\n`);
    this.summary = summary;
  }
}

/** A link that lives on, connection after connection: whenever one is lost the next node is tried, and the link attached there. */
import type { RheaConnection, RheaContainer, RheaContext, RheaLink } from './rhea.js';

export interface ResumeOptions {
  /** The cluster's nodes, tried in turn. */
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
  /** More of rhea's options for connections: username, password, transport, ... */
  readonly connection?: object;
  /** Of the link. With the container's id and the user it says whose the link is: it must stay the same to be resumed. */
  readonly name: string;
  /** Of a queue, as `/queues/NAME`. */
  readonly address: string;
  /** For how long the broker is to keep what is unsettled while the link is not attached; default: 300. */
  readonly timeoutSeconds?: number;
  /** Between two tries; default: 100. */
  readonly retryMs?: number;
  /** Told what ended a connection, or a try. The link goes on. */
  readonly onTrouble?: (reason: string) => void;
}

const troubles = [
  'connection_error',
  'connection_close',
  'session_error',
  'session_close',
  'sender_error',
  'sender_close',
  'receiver_error',
  'receiver_close',
  'protocol_error',
  'error',
  'disconnected',
];

export class LinkLife {
  private readonly container: RheaContainer;
  private readonly options: ResumeOptions;
  private readonly attach: (connection: RheaConnection) => RheaLink;
  private readonly lost: () => void;
  private connection: RheaConnection | undefined;
  private link: RheaLink | undefined;
  private tries = 0;
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;

  /** @param attach makes the link of a connection that is open  @param lost that link is gone */
  constructor(
    container: RheaContainer,
    options: ResumeOptions,
    attach: (connection: RheaConnection) => RheaLink,
    lost: () => void,
  ) {
    this.container = container;
    this.options = options;
    this.attach = attach;
    this.lost = lost;
    this.connect();
  }

  /** @param ends the broker is to forget the link; else it may be resumed, by this program or the next one */
  close(ends: boolean): void {
    this.isClosed = true;
    clearTimeout(this.timer);
    const { connection, link } = this;
    this.connection = undefined;
    if (ends) link?.close();
    else link?.detach();
    connection?.close();
  }

  /** The connection is of no use any more: the next one is made. */
  again(reason: string): void {
    const { connection } = this;
    if (connection !== undefined) this.gone(connection, reason);
  }

  private connect(): void {
    const { nodes, connection: more = {} } = this.options;
    const node = nodes[this.tries++ % nodes.length]!;
    const connection = this.container.connect({ ...more, ...node, reconnect: false });
    this.connection = connection;
    for (const event of troubles)
      connection.on(event, (context) => this.gone(connection, `${event}: ${describe(context)}`));
    connection.on('connection_open', () => {
      if (this.connection === connection) this.link = this.attach(connection);
    });
  }

  private gone(connection: RheaConnection, reason: string): void {
    if (this.connection !== connection) return;
    this.connection = undefined;
    this.link = undefined;
    try {
      connection.close();
    } catch {
      // It is gone already.
    }
    this.lost();
    if (this.isClosed) return;
    this.options.onTrouble?.(reason);
    this.timer = setTimeout(() => this.connect(), this.options.retryMs ?? 100);
  }
}

function describe({ error }: RheaContext): string {
  const known = error as { condition?: string; description?: string; message?: string } | undefined;
  return [known?.condition, known?.description ?? known?.message].filter(Boolean).join(' ');
}

/** The terminus of our end's wishes (§3.5.3). */
export function terminusOf({ address, timeoutSeconds = 300 }: ResumeOptions): object {
  return { address, timeout: timeoutSeconds, expiry_policy: 'link-detach' };
}

/** What is used of rhea, the AMQP 1.0 client of Node.js programs. The package does not depend on it: programs bring their own. */

export interface RheaContext {
  readonly connection?: RheaConnection;
  readonly message?: unknown;
  readonly delivery?: RheaDelivery;
  readonly error?: unknown;
}

export interface RheaDelivery {
  readonly tag: Uint8Array | string;
  readonly remote_state?: { readonly error?: { readonly condition?: string; readonly description?: string } };
  remote_settled: boolean;
  update(settled: boolean | undefined, state?: unknown): void;
  accept(): void;
  release(): void;
  reject(error?: unknown): void;
}

export interface RheaLink {
  /** Our attach: its fields, encoded, in the order of §2.7.3. It goes out at the end of the turn. */
  readonly local: { readonly attach: { readonly value: unknown[] } };
  /** The attach of the other end. */
  readonly remote: { readonly attach?: { readonly unsettled?: Record<string, unknown> | null } };
  on(event: string, listener: (context: RheaContext) => void): unknown;
  close(): void;
  detach(): void;
}

export interface RheaSender extends RheaLink {
  sendable(): boolean;
  send(message: unknown, tag: Uint8Array): unknown;
}

export interface RheaConnection {
  open_sender(options: object): RheaSender;
  open_receiver(options: object): RheaLink;
  on(event: string, listener: (context: RheaContext) => void): unknown;
  close(): void;
}

export interface RheaContainer {
  connect(options: object): RheaConnection;
  readonly types: { wrap_map_as_map(map: ReadonlyMap<Uint8Array, unknown>): unknown };
  readonly message: { accepted(): Described; released(): Described; rejected(fields?: object): Described };
}

interface Described {
  described(): unknown;
}

/** Of the fields of an attach. */
const unsettledField = 7;

/** Has the attach say what is unsettled, by tags: of a map in its options rhea makes one with texts as keys. */
export function sayUnsettled(
  { types }: RheaContainer,
  { local }: RheaLink,
  unsettled: Iterable<readonly [tag: string, state: unknown]>,
): void {
  const map = new Map<Uint8Array, unknown>();
  for (const [tag, state] of unsettled) map.set(Buffer.from(tag, 'latin1'), state);
  local.attach.value[unsettledField] = types.wrap_map_as_map(map);
}

export function textOfTag(tag: Uint8Array | string): string {
  return typeof tag === 'string' ? tag : Buffer.from(tag.buffer, tag.byteOffset, tag.length).toString('latin1');
}

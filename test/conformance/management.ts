/** The broker's HTTP API, as far as cases need it: what they set goes with the case. */
import assert from 'node:assert/strict';
import type { Session } from './session.js';

export type PolicyKind = 'policies' | 'operator-policies';

export interface PolicyOptions {
  priority?: number;
  applyTo?: string;
}

export class Management {
  private readonly session: Session;
  /** Of policies that are set. */
  private readonly set = new Set<string>();

  constructor(session: Session) {
    this.session = session;
  }

  /** @param path behind `/api/`. Resolves to the status and the answer. */
  async ask(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> {
    const response = await fetch(`http://127.0.0.1:${this.session.target.httpPort}/api/${path}`, {
      method,
      headers: {
        authorization: `Basic ${Buffer.from('guest:guest').toString('base64')}`,
        'content-type': 'application/json',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
  }

  /** For queues or exchanges of exactly these names. Returns its name. */
  async policy(
    kind: PolicyKind,
    names: readonly string[],
    definition: Record<string, unknown>,
    { priority = 0, applyTo = 'all' }: PolicyOptions = {},
  ): Promise<string> {
    const name = this.session.name();
    const pattern = `^(${names.map((each) => each.replaceAll('.', '\\.')).join('|')})$`;
    const body = { pattern, definition, priority, 'apply-to': applyTo };
    const { status, body: said } = await this.ask('PUT', `${kind}/%2F/${name}`, body);
    assert.equal(status, 201, JSON.stringify(said));
    this.set.add(`${kind}/%2F/${name}`);
    return name;
  }

  async clear(kind: PolicyKind, name: string): Promise<void> {
    const path = `${kind}/%2F/${name}`;
    assert.equal((await this.ask('DELETE', path)).status, 204);
    this.set.delete(path);
  }

  async end(): Promise<void> {
    for (const path of this.set) await this.ask('DELETE', path);
  }
}

/** The first frame in each direction after the proof of the secret: who is there. JSON, so that fields can be added; unknown ones are ignored. */

import { describeVersions, judgeVersions, type SpokenVersions, type VersionRange } from '../../base/versions.js';

export interface Hello {
  cluster: string;
  /** The range of protocol versions this node speaks. */
  versionMin: number;
  versionMax: number;
  node: string;
  /** Identity of the node's journal. */
  store: string;
  boot: number;
  ordinal: number;
  /** HOST:PORT for links, AMQP clients and HTTP; '' if there is none. */
  address: string;
  amqp: string;
  http: string;
}

/** What a node says of itself; the rest of its hello is the same for all. */
export type LinkIdentity = Omit<Hello, 'versionMin' | 'versionMax'>;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function encodeHello(identity: LinkIdentity, { min, max }: VersionRange): Uint8Array {
  const hello: Hello = { ...identity, versionMin: min, versionMax: max };
  return encoder.encode(JSON.stringify(hello));
}

/** Returns null if the bytes are no hello. */
export function decodeHello(bytes: Uint8Array): Hello | null {
  let value: Partial<Record<keyof Hello, unknown>>;
  try {
    value = JSON.parse(decoder.decode(bytes)) as typeof value;
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const numbers = [value.versionMin, value.versionMax, value.boot, value.ordinal];
  const texts = [value.cluster, value.node, value.store, value.address, value.amqp, value.http];
  if (!numbers.every(Number.isSafeInteger) || !texts.every((text) => typeof text === 'string')) return null;
  return value as Hello;
}

export function encodeText(text: string): Uint8Array {
  return encoder.encode(text);
}

export function decodeText(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** Why the two cannot talk, whatever else is known of them; '' if they can. */
export function judgeHello(own: LinkIdentity, speaks: VersionRange, spoken: SpokenVersions, peer: Hello): string {
  if (peer.cluster !== own.cluster) {
    return `${peer.node} belongs to cluster ${peer.cluster}, ${own.node} to cluster ${own.cluster}`;
  }
  if (peer.node === own.node) return `both ends are called ${own.node}; names must differ within a cluster`;
  const theirs = { min: peer.versionMin, max: peer.versionMax };
  if (theirs.min > speaks.max || theirs.max < speaks.min)
    return (
      `${peer.node} speaks protocol version ${describeVersions(theirs)}, ${own.node} ${describeVersions(speaks)}: ` +
      'bring both to programs that have one in common'
    );
  return judgeVersions(peer.node, theirs, spoken);
}

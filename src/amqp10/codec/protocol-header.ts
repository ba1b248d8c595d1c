/** The eight bytes that open a connection, and again its AMQP part behind the SASL part (§2.2): 'AMQP', protocol id, 1, 0, 0. */

const letters = [0x41, 0x4d, 0x51, 0x50] as const;

export const protocolHeaderBytes = 8;

export const ProtocolId = { amqp: 0, tls: 2, sasl: 3 } as const;
export type ProtocolId = (typeof ProtocolId)[keyof typeof ProtocolId];

export function protocolHeader(id: ProtocolId): Uint8Array {
  return Uint8Array.of(...letters, id, 1, 0, 0);
}

/** Which of AMQP 1.0's headers the eight bytes at `start` are; undefined if they are none. */
export function protocolIdAt(bytes: Uint8Array, start: number): ProtocolId | undefined {
  if (start + protocolHeaderBytes > bytes.length) return undefined;
  for (let i = 0; i < letters.length; i++) if (bytes[start + i] !== letters[i]) return undefined;
  if (bytes[start + 5] !== 1 || bytes[start + 6] !== 0 || bytes[start + 7] !== 0) return undefined;
  const id = bytes[start + 4]!;
  return id === ProtocolId.amqp || id === ProtocolId.tls || id === ProtocolId.sasl ? id : undefined;
}

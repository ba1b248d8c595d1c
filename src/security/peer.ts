/** What is known of whoever connects, before it says who it is. */
export interface Peer {
  /** Without the port. */
  readonly address: string;
  /** Version of TLS, such as TLSv1.3; '' = it is in the clear. */
  readonly tls: string;
  /** It is a process of this machine, by its address. */
  readonly isLoopback: boolean;
  /** The name in the certificate that it has shown, and that is in order; undefined: none. */
  readonly certificateName: string | undefined;
}

/** @param address as a socket gives it */
export function peerAt(address: string, certificateName?: string): Peer {
  return { address, isLoopback: isLoopback(address), certificateName, tls: '' };
}

function isLoopback(address: string): boolean {
  const plain = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
  return plain === '::1' || /^127(\.\d{1,3}){3}$/.test(plain);
}

/**
 * Whether a node serves ordinary clients. In hot standby only the primary does: backups tell them where it is. What a protocol
 * asks when a client has introduced itself, and listens to as long as it has clients.
 */
export const AdmissionState = {
  serving: 'serving',
  /** Another node serves them. */
  standby: 'standby',
  /** The primary was lost and nobody has its place yet: whoever asks now may be in the right place. */
  unsettled: 'unsettled',
} as const;
export type AdmissionState = (typeof AdmissionState)[keyof typeof AdmissionState];

export interface Admission {
  readonly state: AdmissionState;
  /** HOST:PORT of the node that serves ordinary clients, as far as it is known; '' if it is not. `secure`: for clients over TLS. */
  primary(secure: boolean): string;
  /** HOST:PORT of all nodes that have one, in the order in which a client should try them. */
  addresses(secure: boolean): string[];
  /** The listener is told of changes of `state` and the primary. */
  onChange(listener: () => void): { close(): void };
}

/** What every replica must know of a queue; the rest of its declaration is wiring. */
export interface ReplicaOptions {
  durable: boolean;
  /** The highest priority that counts, above `base`, up to which all count as the lowest; without, none does. */
  priorities?: number;
  base?: number;
}

/** The only source of randomness. Production: crypto; simulator: seeded. */
export interface Random {
  /** A float in [0, 1). */
  float(): number;
  /** An integer in [0, below). */
  int(below: number): number;
  /** `length` lower-case hexadecimal characters. */
  hex(length: number): string;
}

import { parseBytes } from './quantities.js';

/** Above how much memory in use publishers wait. */
export type Watermark = { kind: 'bytes'; bytes: number } | { kind: 'share'; share: number } | { kind: 'off' };

/** Reads `2GiB`, a share of the machine's memory (`0.6`, `60%`), or `off`. Throws RangeError. */
export function parseWatermark(written: string): Watermark {
  if (written === 'off') return { kind: 'off' };
  const [, percent] = /^(\d{1,3}(?:\.\d+)?)%$/.exec(written) ?? [];
  const share = percent === undefined ? Number(/^[01]?\.\d+$/.exec(written)?.[0]) : Number(percent) / 100;
  if (Number.isNaN(share)) return { kind: 'bytes', bytes: parseBytes(written) };
  if (share <= 0 || share > 1)
    throw new RangeError(`"${written}" is no share of the machine's memory such as 0.6 or 60%`);
  return { kind: 'share', share };
}

const mebibyte = 1024 * 1024;
/** Of the machine: what is left is for the system, and for what the process has besides. */
const machineShareMax = 0.8;

/**
 * Bytes in use above which there is an alarm; Infinity: never. Unless it was said, it is far above what a broker needs that keeps to
 * `memoryBytes` for its messages, with 40 bytes each for twenty million that wait, but no more than 80 % of the machine's.
 */
export function watermarkBytes(watermark: Watermark | null, memoryBytes: number, machineBytes: number): number {
  if (watermark === null) return Math.min(4 * memoryBytes + 512 * mebibyte, machineShareMax * machineBytes);
  if (watermark.kind === 'off') return Number.POSITIVE_INFINITY;
  return watermark.kind === 'bytes' ? watermark.bytes : Math.floor(watermark.share * machineBytes);
}

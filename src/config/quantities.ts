const unitBytes: Record<string, number> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };
const unitMs: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads a number of bytes: `268435456`, `256MiB`, `256M`, `1.5g` (units of 1024). Throws RangeError. */
export function parseBytes(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*([kmg]?)(?:i?b)?$/i.exec(text.trim());
  if (match === null) throw new RangeError(`"${text}" is no number of bytes such as 268435456 or 256MiB`);
  return Math.round(Number(match[1]) * unitBytes[match[2]!.toLowerCase()]!);
}

/** Reads a time: `500ms`, `10s`, `10m`, `1h`, `2d`; a bare number is seconds. Milliseconds; throws RangeError. */
export function parseDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)?$/i.exec(text.trim());
  if (match === null) throw new RangeError(`"${text}" is no time such as 500ms, 30s or 10m`);
  return Math.round(Number(match[1]) * unitMs[(match[2] ?? 's').toLowerCase()]!);
}

/** 1.5 MiB, 300 KiB, 12 B. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  let value = bytes;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** A log record as people read it: `12:03:55.120 INFO  n1 connection opened user=guest`. */
interface LogLine {
  level: number;
  time: string;
  msg?: string;
  broker?: string;
  [field: string]: unknown;
}

const levelNames: Record<number, string> = { 20: 'DEBUG', 30: 'INFO ', 40: 'WARN ', 50: 'ERROR' };
const colours: Record<number, number> = { 20: 90, 30: 32, 40: 33, 50: 31 };

/** Takes the logger's JSON lines and writes them for a terminal. */
export class PrettyStream {
  private readonly output: { write(text: string): unknown };

  constructor(output: { write(text: string): unknown }) {
    this.output = output;
  }

  write(line: string): void {
    this.output.write(`${prettyLine(JSON.parse(line) as LogLine)}\n`);
  }
}

export function prettyLine(line: LogLine): string {
  const { level, time, msg = '', broker, ...fields } = line;
  const rest = Object.entries(fields).map(([name, value]) => ` \u001b[90m${name}=\u001b[0m${show(value)}`);
  const label = `\u001b[${colours[level] ?? 0}m${levelNames[level] ?? String(level)}\u001b[0m`;
  return `${time.slice(11, 23)} ${label} ${broker === undefined ? '' : `${broker} `}${msg}${rest.join('')}`;
}

function show(value: unknown): string {
  if (typeof value === 'string') return value.includes(' ') ? JSON.stringify(value) : value;
  return JSON.stringify(value) ?? 'undefined';
}

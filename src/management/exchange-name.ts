/** A path cannot name what has no name: it has this for the default exchange. */
const defaultExchange = 'amq.default';

export function exchangeOfPath(name: string): string {
  return name === defaultExchange ? '' : name;
}

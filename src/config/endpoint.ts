/** Where a server listens. Port 0 = any free one. */
export interface Endpoint {
  host: string;
  port: number;
}

/** Reads HOST:PORT, with [HOST] for IPv6; a bare `:PORT` or `PORT` means 127.0.0.1. Throws RangeError. */
export function parseEndpoint(text: string): Endpoint {
  const match = /^(?:(\[[^\]]+\]|[^:[\]]*):)?(\d{1,5})$/.exec(text.trim());
  const port = Number(match?.[2]);
  if (match === null || port > 65_535) throw new RangeError(`"${text}" is no HOST:PORT`);
  const host = (match[1] ?? '').replace(/^\[(.*)\]$/, '$1');
  return { host: host === '' ? '127.0.0.1' : host, port };
}

/** HOST:PORT, as `parseEndpoint` reads it. */
export function formatEndpoint(endpoint: Endpoint): string {
  const host = endpoint.host.includes(':') ? `[${endpoint.host}]` : endpoint.host;
  return `${host}:${endpoint.port}`;
}

/** The endpoint `offset` ports further; a port of 0 stays "any". Throws RangeError beyond 65535. */
export function shiftEndpoint(endpoint: Endpoint, offset: number): Endpoint {
  if (endpoint.port === 0) return endpoint;
  const port = endpoint.port + offset;
  if (port > 65_535) throw new RangeError(`port ${port} is beyond 65535`);
  return { ...endpoint, port };
}

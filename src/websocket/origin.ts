/** Anyone's page may come. */
export const anyOrigin = '*';

/**
 * Whether a page of that origin may open a connection. Browsers send the header, and cannot be kept from connecting: a page of a stranger that is
 * opened on a machine of ours could use whatever that machine may, `guest` on the loopback or a certificate of its user. Who sends none is no page.
 *
 * A page that came from the very host and port is let in if they are an address or localhost: of a name, its owner decides what it leads to, and when.
 * @param origin of the request, RFC 6454 §7; @param host its Host; @param allowed as the setting has them, in lower case
 */
export function isOriginAllowed(
  origin: string | undefined,
  host: string | undefined,
  allowed: readonly string[],
): boolean {
  if (origin === undefined || allowed.includes(anyOrigin)) return true;
  const asked = origin.toLowerCase();
  if (allowed.includes(asked)) return true;
  const at = asked.indexOf('://');
  return at > 0 && host !== undefined && asked.slice(at + 3) === host.toLowerCase() && isPlain(host);
}

function isPlain(host: string): boolean {
  return /^(?:\d+(?:\.\d+){3}|\[[\da-f:.]+\]|localhost)(?::\d+)?$/i.test(host);
}

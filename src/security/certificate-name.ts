/** The user's name in a client's certificate: what SASL EXTERNAL logs in as. Forms and escapes are those of RabbitMQ's `ssl_cert_login_from`. */
import type { X509Certificate } from 'node:crypto';
import type { LoginPart } from './tls-options.js';

/** User names are short strings. */
const nameBytesMax = 255;

/** Kinds of alternative names, as OpenSSL writes them. */
const alternativeKinds = { dns: 'DNS', email: 'email', uri: 'URI' } as const;

/** Attributes that RabbitMQ writes otherwise than OpenSSL. */
const attributeNames: ReadonlyMap<string, string> = new Map([
  ['GN', 'GIVENNAME'],
  ['emailAddress', 'EMAILADDRESS'],
  ['generationQualifier', 'GENERATIONQUALIFIER'],
  ['initials', 'INITIALS'],
  ['pseudonym', 'PSEUDONYM'],
  ['serialNumber', 'SERIALNUMBER'],
  ['street', 'STREET'],
  ['title', 'TITLE'],
]);

/** Undefined: the certificate has no such part, or none that could be a user's name. Of several alternative names it is the first. */
export function certificateName(certificate: X509Certificate, part: LoginPart): string | undefined {
  const name = partOf(certificate, part);
  const isName = name !== undefined && name !== '' && Buffer.byteLength(name) <= nameBytesMax && !/\p{Cc}/u.test(name);
  return isName ? name : undefined;
}

/** RFC 4514: what stands last in the certificate comes first. */
export function distinguishedName({ subject }: X509Certificate): string {
  // One line for each set of attributes, with the values escaped.
  return subject.split('\n').reverse().map(attributes).join(',');
}

function partOf(certificate: X509Certificate, part: LoginPart): string | undefined {
  if (part === 'distinguished-name') return distinguishedName(certificate);
  if (part === 'common-name') return commonName(certificate);
  return alternativeName(certificate.subjectAltName ?? '', alternativeKinds[part]);
}

function attributes(line: string): string {
  return line.split(' + ').map(attribute).join('+');
}

function attribute(text: string): string {
  const equals = text.indexOf('=');
  const kind = text.slice(0, equals);
  return `${attributeNames.get(kind) ?? kind}${text.slice(equals)}`;
}

/** Several are joined, as RabbitMQ does. */
function commonName(certificate: X509Certificate): string | undefined {
  const { CN: names } = certificate.toLegacyObject().subject as { CN?: string | string[] };
  return Array.isArray(names) ? names.join(',') : names;
}

/** `DNS:host, email:someone@host, URI:"what, has a comma"`: what could be mistaken is quoted, as JSON. */
function alternativeName(text: string, kind: string): string | undefined {
  const entry = /\s*([^:,]+):("(?:[^"\\]|\\.)*"|[^,]*)(?:,|$)/gy;
  for (let found = entry.exec(text); found !== null; found = entry.exec(text)) {
    const [, its, value = ''] = found;
    if (its === kind) return value.startsWith('"') ? (JSON.parse(value) as string) : value;
  }
  return undefined;
}

/** Values of a body, as RabbitMQ's clients write them. */
import { HttpError } from './resource.js';

export function badRequest(why: string): HttpError {
  return new HttpError(400, 'bad_request', why);
}

/** A text that must be there. @throws HttpError 400 */
export function requiredText(body: Record<string, unknown>, key: string): string {
  const value = body[key];
  if (typeof value === 'string') return value;
  throw badRequest(value === undefined ? `"${key}" is missing` : `"${key}" must be a text`);
}

/** A text that may be left out. @throws HttpError 400 */
export function optionalText(body: Record<string, unknown>, key: string): string | undefined {
  return body[key] === undefined || body[key] === null ? undefined : requiredText(body, key);
}

/** A text that is not empty. @throws HttpError 400 */
export function requiredName(body: Record<string, unknown>, key: string): string {
  const value = requiredText(body, key);
  if (value === '') throw badRequest(`"${key}" is empty`);
  return value;
}

/** True or false, as texts too. @throws HttpError 400 */
export function flag(body: Record<string, unknown>, key: string, otherwise: boolean = false): boolean {
  const value = body[key];
  if (value === undefined || value === null) return otherwise;
  if (typeof value === 'boolean') return value;
  if (value === 'true' || value === 'false') return value === 'true';
  throw badRequest(`"${key}" must be true or false`);
}

/** `["a","b"]`, or `"a,b"`, which is older. @throws HttpError 400 */
export function tagList(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return value.split(',').flatMap((tag) => (tag.trim() === '' ? [] : [tag.trim()]));
  if (Array.isArray(value) && value.every((tag) => typeof tag === 'string')) return value;
  throw badRequest('"tags" must be a list of texts, or one text with commas');
}

export function notFound(what: string): HttpError {
  return new HttpError(404, 'not_found', `there is no ${what}`);
}

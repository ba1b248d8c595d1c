export interface Answer {
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
}

/** One request with basic authentication; `credentials` null: without. */
export async function request(
  url: string,
  options: { method?: string; credentials?: string | null; body?: unknown } = {},
): Promise<Answer> {
  const { method = 'GET', credentials = 'guest:guest', body } = options;
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const headers =
    credentials === null ? type : { ...type, authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
  const response = await fetch(url, {
    method,
    headers,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
  };
}

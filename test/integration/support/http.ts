export interface Answer {
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
}

/** One request with basic authentication; `credentials` null: without. */
export async function request(
  url: string,
  options: { method?: string; credentials?: string | null } = {},
): Promise<Answer> {
  const { method = 'GET', credentials = 'guest:guest' } = options;
  const headers = credentials === null ? {} : { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
  const response = await fetch(url, { method, headers });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
  };
}

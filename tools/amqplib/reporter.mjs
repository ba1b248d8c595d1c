/** A reporter of node:test: one JSON object a line for every test, {name: [suite, ..., test], error}. Suites are left out. */
export default async function* report(source) {
  const suites = [];
  for await (const { type, data } of source) {
    if (type === 'test:start') {
      suites.length = data.nesting;
      suites.push(data.name);
    }
    if ((type !== 'test:pass' && type !== 'test:fail') || data.details.type === 'suite') continue;
    const { error } = data.details;
    const reason = error === undefined ? '' : String(error.cause?.message ?? error.message);
    yield `${JSON.stringify({ name: [...suites.slice(0, data.nesting), data.name], error: reason })}\n`;
  }
}

/**
 * Cases that our broker does not pass yet, with the reason. They must fail: who makes one pass takes it off the list.
 * RabbitMQ passes all of them.
 */
const waiting: readonly { reason: string; titles: readonly string[] }[] = [];

/** Reason by title. */
export const open: ReadonlyMap<string, string> = new Map(
  waiting.flatMap(({ reason, titles }) => titles.map((title) => [title, reason])),
);

/**
 * Cases that our broker does not pass yet, and why. They are expected to fail: whoever makes one pass takes it off.
 * RabbitMQ passes them.
 */
export const open: Readonly<Record<string, string>> = {};

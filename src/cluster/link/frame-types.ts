/**
 * The types of all frames on links between brokers. A type is never used again for something else; fields are only added at
 * the end of a payload.
 */
export const FrameType = {
  // 0x01-0x0f: the link itself and liveness
  hello: 0x01,
  ping: 0x02,
  pong: 0x03,

  // 0x10-0x2f: replication (src/cluster/replication/frames.ts)
  follow: 0x10,
  start: 0x11,
  join: 0x12,
  queues: 0x13,
  have: 0x14,
  backfill: 0x15,
  haveEnd: 0x16,
  joinEnd: 0x17,
  batch: 0x18,
  commit: 0x19,
  ack: 0x1a,
  refuse: 0x1b,

  // 0x30-0x5f: a group's clients and its service (src/cluster/client)
  // 0x60-0x6f: wiring operations (src/cluster/wiring)
} as const;
export type FrameType = (typeof FrameType)[keyof typeof FrameType];

/**
 * The types of all frames on links between brokers. A type is never used again for something else; fields are only added at
 * the end of a payload.
 */
export const FrameType = {
  // 0x01-0x0f: the link itself and liveness
  hello: 0x01,
  ping: 0x02,
  pong: 0x03,
  decline: 0x04,
  challenge: 0x05,
  answer: 0x06,
  proof: 0x07,

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
  handOver: 0x1c,

  // 0x30-0x5f: a group's clients and its service (src/cluster/client/frames.ts)
  attach: 0x30,
  publish: 0x31,
  settle: 0x32,
  subscribe: 0x33,
  grant: 0x34,
  unsubscribe: 0x35,
  get: 0x36,
  count: 0x37,
  purge: 0x38,
  transact: 0x39,
  attached: 0x40,
  refused: 0x41,
  confirmed: 0x42,
  settled: 0x43,
  deliver: 0x44,
  subscribed: 0x45,
  unsubscribed: 0x46,
  cancelled: 0x47,
  got: 0x48,
  gotNothing: 0x49,
  counted: 0x4a,
  purged: 0x4b,
  moved: 0x4c,
  rejected: 0x4d,
  deliverCounted: 0x4e,
  flow: 0x51,

  // 0x60-0x6f: wiring operations (src/cluster/wiring)
  wiringRequest: 0x60,
  wiringAnswer: 0x61,
  routeAsk: 0x62,
  routeGrant: 0x63,

  // 0x70-0x7f: what nodes tell each other for people to read
  joins: 0x70,
  standings: 0x71,
  /** Publishers wait for them, too. */
  alarms: 0x72,

  // 0x80-0x8f: clients of one node to those of another (src/cluster/client/direct-replies.ts)
  reply: 0x80,
  replyAsk: 0x81,
  replyAnswer: 0x82,
} as const;
export type FrameType = (typeof FrameType)[keyof typeof FrameType];

/** Bytes that a payload has at least, by type: what its reader takes without asking. Texts and JSON may be empty here. */
export const payloadBytesMin: Uint8Array = new Uint8Array(256);
for (const [type, bytes] of [
  [FrameType.have, 40],
  [FrameType.backfill, 40],
  [FrameType.haveEnd, 16],
  [FrameType.joinEnd, 16],
  [FrameType.batch, 16],
  [FrameType.commit, 16],
  [FrameType.ack, 32],
  [FrameType.handOver, 16],
  [FrameType.attach, 24],
  [FrameType.publish, 16],
  [FrameType.settle, 4],
  [FrameType.subscribe, 32],
  [FrameType.grant, 16],
  [FrameType.unsubscribe, 8],
  [FrameType.get, 25],
  [FrameType.count, 24],
  [FrameType.purge, 24],
  [FrameType.transact, 16],
  [FrameType.attached, 16],
  [FrameType.refused, 16],
  [FrameType.confirmed, 16],
  [FrameType.settled, 16],
  [FrameType.deliver, 64],
  [FrameType.subscribed, 8],
  [FrameType.unsubscribed, 8],
  [FrameType.cancelled, 8],
  [FrameType.got, 72],
  [FrameType.gotNothing, 8],
  [FrameType.counted, 32],
  [FrameType.purged, 16],
  [FrameType.moved, 16],
  [FrameType.rejected, 8],
  [FrameType.flow, 8],
  [FrameType.deliverCounted, 72],
  [FrameType.wiringRequest, 4],
  [FrameType.wiringAnswer, 4],
  [FrameType.routeAsk, 8],
  [FrameType.routeGrant, 8],
  [FrameType.reply, 2],
  [FrameType.replyAsk, 4],
  [FrameType.replyAnswer, 5],
] as const)
  payloadBytesMin[type] = bytes;

export const RecordKind = {
  enqueue: 1,
  dequeue: 2,
  open: 3,
  drop: 4,
  dequeueRange: 5,
  returned: 6,
  annotated: 8,
} as const;
export type RecordKind = (typeof RecordKind)[keyof typeof RecordKind];

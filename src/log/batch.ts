/**
 * A batch: the events that one turn of a primary made for one group. It is the unit of journaling, replication,
 * log matching and commit; its boundaries never change, so a batch is known by its first lsn.
 *
 *   0 u32 magic    4 u32 length with header    8 u32 crc32 of bytes 12..length
 *  12 u16 group   14 u8 kind   15 u8 flags   16 u32 record count   20 u32 reserved
 *  24 f64 previous lsn (the log's end before this batch; tells epoch and number)   32 f64 first lsn
 *  40 records
 *
 * Within a batch the lsns are consecutive. Copies (compaction, backfill) carry records of any lsn and no place in the log; their
 * "previous" and "first" lsn are the commit point as of which the records were there (see RecoveryVisitor).
 */
export const batchMagic = 0x3142_4455; // "UDB1"
export const batchHeaderBytes = 40;

export const BatchKind = {
  /** Events in log order. */
  log: 0,
  /** Records written again by compaction or received as backfill; their lsns are their first ones. */
  copy: 1,
  /** JSON of a group's meta data: see GroupMeta. */
  meta: 2,
} as const;
export type BatchKind = (typeof BatchKind)[keyof typeof BatchKind];

export const BatchFlag = { durable: 1 } as const;

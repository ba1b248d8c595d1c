/** Bodies of more bytes than this are sent in parts. */
export const largeBytes: number = 1024 * 1024;
/** Two parts fill a chunk. */
export const partBytes: number = 126 * 1024;

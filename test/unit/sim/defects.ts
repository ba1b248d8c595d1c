/** What may be planted in a perfect broker, for the checkers to find. */
export interface Defects {
  /** One message in 20 is confirmed and forgotten. */
  lose: boolean;
  /** One message in 20 is stored twice. */
  double: boolean;
  /** Comes again without the flag. */
  unflagged: boolean;
  /** Requeued messages go to the end. */
  requeueAtEnd: boolean;
  /** One message in 20 goes before the one before it. */
  misorder: boolean;
  /** One ack in 20 is forgotten when its consumer ends. */
  forgetAck: boolean;
  /** One declaration in 10 is never answered. */
  hang: boolean;
  /** One delivery in 20 goes to a second consumer, flagged. */
  twoHolders: boolean;
  /** Messages of a deleted queue turn up in the next one of its name. */
  byName: boolean;
}

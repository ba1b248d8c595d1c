/**
 * What publishers sent and got confirmed, and what consumers received: enough to say at the end whether the brokers kept
 * their word. A message is (publisher, number); its queue follows from the number.
 */

/** Counts saturate here: more copies than that are not told apart. */
const countMax = 255;
/**
 * Deliveries to one consumer are read in the order in which they were sent. Those to two of them come over different sockets:
 * this program may read the later one first if both are there, but then the other follows at once. A broker that closes a connection
 * gives back what it has sent there, and others get it, flagged, perhaps before this program has read the end of that connection:
 * then that end follows at once.
 */
const raceMs = 50;
/** Faults told one by one, of each kind. */
const toldMax = 200;

/** A count for each number of one publisher. */
class Counts {
  #bytes = new Uint8Array(4096);

  get(number) {
    return this.#bytes[number] ?? 0;
  }

  add(number) {
    if (number >= this.#bytes.length) {
      const larger = new Uint8Array(Math.max(number + 1, this.#bytes.length * 2));
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    if (this.#bytes[number] < countMax) this.#bytes[number]++;
    return this.#bytes[number];
  }

  toJSON() {
    return Buffer.from(this.#bytes.buffer).toString('base64');
  }

  static from(text) {
    const counts = new Counts();
    counts.#bytes = new Uint8Array(Buffer.from(text, 'base64'));
    return counts;
  }
}

class PublisherAccount {
  /** Numbers go from 0 to `next` - 1. */
  next = 0;
  sent = new Counts();
  confirmed = new Counts();
  unflagged = new Counts();
  flagged = new Counts();
}

export class Ledger {
  constructor(publishers) {
    this.accounts = Array.from({ length: publishers }, () => new PublisherAccount());
    this.totals = { sent: 0, sentAgain: 0, confirmed: 0, delivered: 0, flagged: 0, crossed: 0, foreign: 0 };
    /** Messages that were received, each counted once. */
    this.received = 0;
    /** Faults by kind: the first of each, with their time (ms since 1970) and, of deliveries, consumer and node; and all. */
    this.faults = { lost: [], duplicates: [], disorder: [], unroutable: [], misplaced: [] };
    this.faultCounts = { lost: 0, duplicates: 0, disorder: 0, unroutable: 0, misplaced: 0 };
    /** Messages whose first delivery was flagged: when that was, and to which consumer. */
    this.flaggedFirst = new Map();
    /** By consumer: deliveries that came unflagged after another had it flagged, and may turn out to be the last ones of a connection. */
    this.suspects = new Map();
    /** Last unflagged number of each publisher that a consumer got from a queue. */
    this.last = new Map();
  }

  // ---- publishers ----

  /** A new number for that publisher. */
  issue(publisher) {
    return this.accounts[publisher].next++;
  }

  sent(publisher, number) {
    if (this.accounts[publisher].sent.add(number) > 1) this.totals.sentAgain++;
    else this.totals.sent++;
  }

  confirmed(publisher, number) {
    if (this.accounts[publisher].confirmed.add(number) === 1) this.totals.confirmed++;
  }

  /** The broker says that the message went to no queue, although its queue was declared. */
  unroutable(publisher, number) {
    this.#fault('unroutable', `${publisher}:${number}`);
  }

  // ---- consumers ----

  /**
   * @param {{publisher: number, number: number, queue: string, from: string, consumer: number, node: number,
   *   redelivered: boolean}} delivery `queue`: where it was sent to; `from`: where it was received from, over which node
   */
  delivered(delivery) {
    this.#judge(delivery.consumer, raceMs);
    const { publisher, number, queue, from, consumer, redelivered } = delivery;
    const account = this.accounts[publisher];
    if (account === undefined || !(number < account.next)) {
      this.totals.foreign++;
      return;
    }
    this.totals.delivered++;
    if (queue !== from) this.#fault('misplaced', `${publisher}:${number} of ${queue} from ${from}`, delivery);
    if (redelivered) this.#flagged(account, publisher, number, consumer);
    else this.#unflagged(account, delivery);
  }

  #flagged(account, publisher, number, consumer) {
    this.totals.flagged++;
    const isFirst = account.flagged.add(number) === 1 && account.unflagged.get(number) === 0;
    if (!isFirst) return;
    this.received++;
    this.flaggedFirst.set(`${publisher}:${number}`, { consumer, at: performance.now() });
  }

  #unflagged(account, delivery) {
    const { publisher, number, queue, consumer } = delivery;
    const name = `${publisher}:${number} of ${queue}`;
    const copies = account.unflagged.add(number);
    if (copies === 1 && account.flagged.get(number) === 0) this.received++;
    // A publisher that sends again makes another message of it, which no broker can know.
    if (account.sent.get(number) > 1) return;
    const flagged = this.flaggedFirst.get(`${publisher}:${number}`);
    if (copies > 1 || flagged?.consumer === consumer) this.#fault('duplicates', name, delivery);
    else if (flagged !== undefined && performance.now() - flagged.at > raceMs) this.#suspect(name, delivery);
    const key = `${consumer} ${queue} ${publisher}`;
    const last = this.last.get(key) ?? -1;
    if (number < last) this.#fault('disorder', `${name} after ${last}`, delivery);
    else this.last.set(key, number);
  }

  #suspect(name, delivery) {
    const suspect = { name, delivery, since: performance.now(), at: Date.now() };
    const suspects = this.suspects.get(delivery.consumer);
    if (suspects === undefined) this.suspects.set(delivery.consumer, [suspect]);
    else suspects.push(suspect);
  }

  /** Suspects of that consumer whose connection has not ended within `ms` are duplicates. */
  #judge(consumer, ms) {
    const suspects = this.suspects.get(consumer);
    if (suspects === undefined) return;
    const since = performance.now() - ms;
    this.suspects.set(
      consumer,
      suspects.filter((suspect) => {
        if (suspect.since >= since) return true;
        this.#fault('duplicates', suspect.name, suspect.delivery, suspect.at);
        return false;
      }),
    );
  }

  /** The connection of that consumer is over: what it brought last was sent before others got it. */
  connectionEnded(consumer) {
    this.#judge(consumer, raceMs);
    this.totals.crossed += this.suspects.get(consumer)?.length ?? 0;
    this.suspects.delete(consumer);
  }

  #fault(kind, what, { consumer, node } = {}, at = Date.now()) {
    this.faultCounts[kind]++;
    if (this.faults[kind].length < toldMax) this.faults[kind].push({ what, at, consumer, node });
  }

  /** Confirmed and not received yet, about: some are received first. */
  get waiting() {
    return this.totals.confirmed - this.received;
  }

  // ---- the end ----

  /** Confirmed messages that nobody has received (yet). */
  get missing() {
    let missing = 0;
    for (const account of this.accounts) for (const _ of missingOf(account)) missing++;
    return missing;
  }

  /** To be called once nothing more comes: what is missing now is lost. */
  close() {
    for (const consumer of this.suspects.keys()) this.#judge(consumer, -1);
    this.accounts.forEach((account, publisher) => {
      for (const number of missingOf(account)) this.#fault('lost', `${publisher}:${number}`);
    });
  }

  get isFaultless() {
    return Object.values(this.faultCounts).every((count) => count === 0);
  }

  toJSON() {
    const { accounts, totals, faults, faultCounts } = this;
    return { accounts, totals, faults, faultCounts };
  }

  /** A ledger as `toJSON` gave it; what consumers received last does not outlive its program. */
  static from(json) {
    const ledger = new Ledger(0);
    Object.assign(ledger, { totals: json.totals, faults: json.faults, faultCounts: json.faultCounts });
    ledger.accounts = json.accounts.map((saved) => {
      const account = new PublisherAccount();
      account.next = saved.next;
      for (const name of ['sent', 'confirmed', 'unflagged', 'flagged']) account[name] = Counts.from(saved[name]);
      return account;
    });
    return ledger;
  }
}

function* missingOf(account) {
  for (let number = 0; number < account.next; number++)
    if (account.confirmed.get(number) > 0 && account.unflagged.get(number) + account.flagged.get(number) === 0)
      yield number;
}

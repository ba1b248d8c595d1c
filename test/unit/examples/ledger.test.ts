import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { sleep } from '../../support/cluster-processes.js';

/** Of examples/numbered/ledger.mjs, what is used here. */
interface Ledger {
  readonly faultCounts: Record<string, number>;
  readonly totals: { crossed: number };
  issue(publisher: number): number;
  sent(publisher: number, number: number): void;
  delivered(delivery: object): void;
  connectionEnded(consumer: number): void;
  close(): void;
}

const { Ledger } = (await import(pathToFileURL('examples/numbered/ledger.mjs').href)) as {
  Ledger: new (publishers: number) => Ledger;
};

/** Longer than deliveries to two consumers may overtake each other. */
const lateMs = 80;

function setUp() {
  const ledger = new Ledger(1);
  const number = ledger.issue(0);
  ledger.sent(0, number);
  const deliver = (consumer: number, redelivered: boolean): void =>
    ledger.delivered({ publisher: 0, number, queue: 'q', from: 'q', consumer, node: consumer, redelivered });
  const duplicates = (): number => {
    ledger.close();
    return ledger.faultCounts['duplicates']!;
  };
  return { ledger, deliver, duplicates };
}

describe('the ledger of the numbered messages', () => {
  test('the same message twice, unflagged, is a duplicate', () => {
    const { deliver, duplicates } = setUp();
    deliver(1, false);
    deliver(2, false);
    assert.equal(duplicates(), 1);
  });

  test('twice, the second time flagged, is none', () => {
    const { deliver, duplicates } = setUp();
    deliver(1, false);
    deliver(2, true);
    assert.equal(duplicates(), 0);
  });

  test('flagged first: at once the same may come unflagged to another consumer, later it is a duplicate', async () => {
    const { deliver, duplicates } = setUp();
    deliver(1, true);
    deliver(2, false);
    assert.equal(duplicates(), 0);
    const late = setUp();
    late.deliver(1, true);
    await sleep(lateMs);
    late.deliver(2, false);
    assert.equal(late.duplicates(), 1);
  });

  test('flagged first, then unflagged to the same consumer, is a duplicate', () => {
    const { deliver, duplicates } = setUp();
    deliver(1, true);
    deliver(1, false);
    assert.equal(duplicates(), 1);
  });

  test('flagged first, later unflagged at the end of a connection: it was sent before; with more behind it, it was not', async () => {
    const { ledger, deliver, duplicates } = setUp();
    deliver(1, true);
    await sleep(lateMs);
    deliver(2, false);
    ledger.connectionEnded(2);
    assert.equal(duplicates(), 0);
    assert.equal(ledger.totals.crossed, 1);
    const other = setUp();
    other.deliver(1, true);
    await sleep(lateMs);
    other.deliver(2, false);
    await sleep(lateMs);
    other.ledger.connectionEnded(2);
    assert.equal(other.duplicates(), 1);
  });
});

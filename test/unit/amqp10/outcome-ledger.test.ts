import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { OutcomeLedger, PublishOutcome } from '../../../src/amqp10/outcome-ledger.js';

class Source {
  settled = 0;
  publishSettled(): void {
    this.settled++;
  }
}

type Told = [first: number, last: number, outcome: PublishOutcome, condition?: string];

function flush(ledger: OutcomeLedger): Told[] {
  const told: Told[] = [];
  ledger.flush((first, last, outcome, error) =>
    told.push(error === undefined ? [first, last, outcome] : [first, last, outcome, error.condition]),
  );
  return told;
}

const { accepted, released, rejected } = PublishOutcome;

describe('OutcomeLedger', () => {
  it('tells neighbours with the same outcome together', () => {
    const source = new Source();
    let dirty = 0;
    const ledger = new OutcomeLedger(() => dirty++);
    for (let id = 0; id < 6; id++) ledger.opened(id, source, 1);
    for (const tag of [0, 1, 2, 4, 5]) ledger.completed(tag);
    assert.equal(dirty, 1);
    assert.deepEqual(flush(ledger), [
      [0, 2, accepted],
      [4, 5, accepted],
    ]);
    assert.equal(source.settled, 5);
    ledger.completed(3);
    assert.equal(dirty, 2);
    assert.deepEqual(flush(ledger), [[3, 3, accepted]]);
  });

  it('tells of a publish when all its parts are safe', () => {
    const ledger = new OutcomeLedger(() => {});
    ledger.opened(7, new Source(), 3);
    ledger.completed(0);
    ledger.completed(0);
    assert.deepEqual(flush(ledger), []);
    ledger.completed(0);
    assert.deepEqual(flush(ledger), [[7, 7, accepted]]);
  });

  it('tells what was refused, what failed, and what led nowhere', () => {
    const source = new Source();
    const ledger = new OutcomeLedger(() => {});
    for (let id = 0; id < 3; id++) ledger.opened(id, source, id === 0 ? 2 : 1);
    ledger.refused(0);
    ledger.unroutable(1);
    ledger.completed(1);
    ledger.failed(2, new Error('x'));
    ledger.answer(3, source, released);
    assert.deepEqual(flush(ledger), [
      [1, 1, released],
      [2, 2, rejected, 'amqp:internal-error'],
      [3, 3, released],
    ]);
    ledger.completed(0);
    assert.deepEqual(flush(ledger), [[0, 0, rejected, 'amqp:precondition-failed']]);
    assert.equal(source.settled, 4);
  });

  it('counts ids across their end', () => {
    const ledger = new OutcomeLedger(() => {});
    for (const id of [0xffff_fffe, 0xffff_ffff, 0, 1]) ledger.opened(id, new Source(), 1);
    for (let tag = 0; tag < 4; tag++) ledger.completed(tag);
    assert.deepEqual(flush(ledger), [[0xffff_fffe, 1, accepted]]);
  });

  it('tells each publish once, whatever the order', () => {
    const steps = fc.array(
      fc.record({ publish: fc.boolean(), parts: fc.nat(2), pick: fc.nat(), flush: fc.boolean() }),
      {
        maxLength: 400,
      },
    );
    fc.assert(
      fc.property(steps, (all) => {
        const source = new Source();
        const ledger = new OutcomeLedger(() => {});
        const missing: number[] = [];
        const told: number[] = [];
        const tell = (): void => {
          for (const [first, last, outcome] of flush(ledger)) {
            assert.equal(outcome, accepted);
            for (let id = first; id <= last; id++) told.push(id);
          }
        };
        for (const { publish, parts, pick, flush: now } of all) {
          if (publish) {
            ledger.opened(missing.length, source, parts);
            missing.push(parts);
          } else {
            const open = missing.flatMap((left, tag) => (left > 0 ? [tag] : []));
            if (open.length === 0) continue;
            const tag = open[pick % open.length]!;
            missing[tag]!--;
            ledger.completed(tag);
          }
          if (now) tell();
        }
        tell();
        const complete = missing.flatMap((left, tag) => (left === 0 ? [tag] : []));
        assert.deepEqual(
          told.sort((a, b) => a - b),
          complete,
        );
        assert.equal(source.settled, complete.length);
      }),
    );
  });
});

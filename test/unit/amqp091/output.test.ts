import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { Counters } from '../../../src/amqp091/counters.js';
import { defaultLimits } from '../../../src/amqp091/limits.js';
import { Output, outputStallFactor } from '../../../src/socket/output.js';
import { Turn } from '../../../src/base/turn.js';
import { ByteWriter } from '../../../src/wire/byte-writer.js';

const deliverWithinMs = 400;

/** An output whose turn and clock stand still until told. */
class Bench {
  now = 1000;
  written = 0;
  overdue = 0;
  readonly output: Output;
  private scheduled: (() => void)[] = [];

  constructor() {
    const turn = new Turn(
      (run) => this.scheduled.push(run),
      () => this.now,
    );
    const socket = {
      writable: true,
      writableLength: 0,
      write: () => this.written++,
    } as unknown as Socket;
    this.output = new Output(
      socket,
      turn,
      new Counters(),
      { ...defaultLimits, deliverWithinMs },
      {
        beforeFlush() {},
        relieved() {},
        roomForBodies() {},
        overdue: () => this.overdue++,
      },
    );
  }

  endTurn(): void {
    for (const run of this.scheduled.splice(0)) run();
  }
}

describe('Output', () => {
  it('counts what waits behind the body of a large message, be it that nothing of that comes', () => {
    const { output } = new Bench();
    const behind = new ByteWriter();
    output.gathered.add(behind);
    for (let bytes = 0; bytes <= defaultLimits.outputBytesMax; bytes += 65_536) {
      assert.equal(output.congested, false);
      behind.raw(new Uint8Array(65_536));
      output.delivered(65_536);
    }
    assert.equal(output.congested, true);
    assert.equal(output.overfull, false);
    behind.raw(new Uint8Array(defaultLimits.outputBytesMax * outputStallFactor));
    assert.equal(output.overfull, true);
    output.gathered.delete(behind);
    assert.equal(output.overfull, false);
  });

  it('does not write what a turn has delivered if the process stood still in it', () => {
    const bench = new Bench();
    bench.output.writer.u8(1);
    bench.output.delivered(1);
    bench.now += deliverWithinMs + 1;
    bench.endTurn();
    assert.deepEqual([bench.written, bench.overdue], [0, 1]);
  });

  it('writes what was delivered in time, and in turns after a pause', () => {
    const bench = new Bench();
    for (let i = 0; i < 3; i++) {
      bench.now += 10 * deliverWithinMs;
      bench.output.writer.u8(1);
      bench.output.delivered(1);
      bench.now += deliverWithinMs;
      bench.endTurn();
    }
    assert.deepEqual([bench.written, bench.overdue], [3, 0]);
  });

  it('writes confirms and answers however late', () => {
    const bench = new Bench();
    bench.output.writer.u8(1);
    bench.output.touch();
    bench.now += 10 * deliverWithinMs;
    bench.endTurn();
    assert.deepEqual([bench.written, bench.overdue], [1, 0]);
  });

  it('gathers what a client does not read, instead of a buffer for each answer', () => {
    const pending: { bytes: number; done: () => void }[] = [];
    const scheduled: (() => void)[] = [];
    const socket = {
      writable: true,
      get writableLength() {
        return pending.reduce((sum, { bytes }) => sum + bytes, 0);
      },
      write: (bytes: Uint8Array, done: () => void) => pending.push({ bytes: bytes.length, done }),
    } as unknown as Socket;
    const turn = new Turn((run) => scheduled.push(run));
    const owner = { beforeFlush() {}, relieved() {}, roomForBodies() {}, overdue: () => assert.fail('overdue') };
    const output = new Output(socket, turn, new Counters(), defaultLimits, owner);
    const endTurn = (): void => {
      for (const run of scheduled.splice(0)) run();
    };
    const answers = 10_000;
    for (let i = 0; i < answers; i++) {
      output.writer.u64(i);
      output.touch();
      endTurn();
    }
    assert.ok(pending.length < 100, `${pending.length} writes`);
    assert.equal(output.pendingBytes, answers * 8);
    let taken = 0;
    for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
      taken += next.bytes;
      next.done();
      endTurn();
    }
    assert.equal(taken, answers * 8);
    assert.equal(output.pendingBytes, 0);
  });
});

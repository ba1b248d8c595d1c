import { FrameType } from '../../src/cluster/link/frame-types.js';
import type { Scenario } from './scenario.js';

/** Leaves out batches on their way to backups, which TCP does not do: a follower must notice the gap, and ask again. */
export const lostBatch: Scenario = {
  name: 'lost-batch',
  rules: ['refuseGaps'],
  rounds: 4,
  async play(stage) {
    const { network } = stage.world;
    const primary = stage.primary(stage.group());
    stage.begin();
    for (const other of stage.world.nodes) {
      if (other === primary) continue;
      network.link(primary.name, other.name).filter = (bytes): Uint8Array =>
        stage.random.chance(0.2) ? withoutBatches(bytes) : bytes;
    }
    for (let i = 0; i < 20; i++) {
      stage.stir();
      await stage.sleep(1, 50);
    }
    // What is lost for good when nothing follows it, no follower can notice: the links end, as a checksum's failure would end them.
    for (const other of stage.world.nodes) {
      network.link(primary.name, other.name).filter = undefined;
      stage.breakLinks(primary, other);
    }
    await stage.sleep(100, 1000);
  },
};

/** The same frames but the batches. */
function withoutBatches(bytes: Uint8Array): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const kept: Uint8Array[] = [];
  for (let at = 0; at + 8 <= bytes.length; ) {
    const length = view.getUint32(at, true);
    if (length < 8 || at + length > bytes.length) return bytes;
    if (bytes[at + 4] !== FrameType.batch) kept.push(bytes.subarray(at, at + length));
    at += length;
  }
  return Uint8Array.from(kept.flatMap((frame) => [...frame]));
}

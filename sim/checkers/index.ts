import type { SimWorld } from '../world.js';
import type { Checker } from './checker.js';
import { BoundsKept } from './bounds-kept.js';
import { ConfirmedNotLost } from './confirmed-not-lost.js';
import { DeposedIsSilent } from './deposed-is-silent.js';
import { GroupsTogether } from './groups-together.js';
import { HighestFirst } from './highest-first.js';
import { InSyncFull } from './in-sync-full.js';
import { InTime } from './in-time.js';
import { MinInSync } from './min-in-sync.js';
import { NoDuplicateWithoutFailure } from './no-duplicate-without-failure.js';
import { NoUnflaggedDuplicate } from './no-unflagged-duplicate.js';
import { NotTooEarly } from './not-too-early.js';
import { NothingLeft } from './nothing-left.js';
import { NotesKept } from './notes-kept.js';
import { OneActive } from './one-active.js';
import { OneHolder } from './one-holder.js';
import { OnePrimaryPerEpoch } from './one-primary-per-epoch.js';
import { PreferredFirst } from './preferred-first.js';
import { PublishOrder } from './publish-order.js';
import { RefusedNotThere } from './refused-not-there.js';
import { ReplicasEqual } from './replicas-equal.js';
import { RequeuePlace } from './requeue-place.js';
import { ReturnsCounted } from './returns-counted.js';
import { RightQueue } from './right-queue.js';
import { SettledNeverBack } from './settled-never-back.js';
import { Versions } from './versions.js';
import { WholeTransactions } from './whole-transactions.js';
import { WiringEqual } from './wiring-equal.js';

/** Every checker, listening to the world's history. (That nothing hangs or throws is judged by the run itself.) */
export function allCheckers(world: SimWorld): Checker[] {
  const checkers = [
    new NoUnflaggedDuplicate(world),
    new NoDuplicateWithoutFailure(world),
    new OneHolder(world),
    new PublishOrder(world),
    new RequeuePlace(world),
    new RightQueue(world),
    new DeposedIsSilent(world),
    new MinInSync(world),
    new SettledNeverBack(world),
    new OnePrimaryPerEpoch(world),
    new InSyncFull(world),
    new ReplicasEqual(world),
    new WiringEqual(world),
    new NothingLeft(world),
    new ConfirmedNotLost(world),
    new NotTooEarly(world),
    new Versions(world),
    new WholeTransactions(world),
    new HighestFirst(world),
    new GroupsTogether(world),
    new BoundsKept(world),
    new RefusedNotThere(world),
    new ReturnsCounted(world),
    new NotesKept(world),
    new OneActive(world),
    new PreferredFirst(world),
    new InTime(world),
  ];
  for (const checker of checkers) world.history.listen(checker);
  return checkers;
}

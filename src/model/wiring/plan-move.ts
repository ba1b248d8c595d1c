/** Queues that move to another group, since their policy wants them on other nodes than they are: see MoveStage. */
import { Feature } from '../../base/versions.js';
import { nameKey } from './footprint.js';
import { isDurable, MoveStage, type QueueObject } from './objects.js';
import type { MoveOn, MoveQueue } from './operations.js';
import { NotYet, type Planner } from './planner.js';
import type { WiringTables } from './tables.js';

const stages: readonly string[] = Object.values(MoveStage);

/** Nothing happens if it is where it is to be, moves already, is a connection's own, or not all nodes would understand. */
export function planMoveQueue(planner: Planner, { incarnation, node }: MoveQueue): void {
  const { tables, context } = planner;
  const source = tables.queueAt(incarnation);
  if (source === undefined || context.isAlone || context.version() < Feature.queueMoves) return;
  planner.footprint.writes(nameKey.queue(source.vhost, source.name));
  planner.footprint.reads(nameKey.vhost(source.vhost));
  if (!tables.hasVhost(source.vhost)) return;
  if (!isElsewhere(source, tables, context.replicasMax())) return;
  const { replicas: _, movesFrom: __, ...declared } = source;
  const { size } = tables.settings.of(source);
  const group = context.chooseGroup({ ...declared, group: 0, movesFrom: source.position }, node);
  if (group === undefined) throw new NotYet('the group for the queue is not ready');
  if (group === source.group) return;
  planner.group = group;
  planner.create({ ...declared, group, ...(size === undefined ? {} : { replicas: size }), movesFrom: source.position });
}

/** The queue has another number of replicas than it is to have, and stays where it is. @param usual what queues have that ask for none */
export function isElsewhere(queue: QueueObject, tables: WiringTables, usual: number): boolean {
  if (queue.owner !== '' || tables.moves.of(queue) !== undefined) return false;
  return (tables.settings.ofNew(queue).size ?? usual) !== (queue.replicas ?? usual);
}

/** A stage is never gone back to: what is said again changes nothing. */
export function planMoveOn(planner: Planner, { incarnation, stage }: MoveOn): void {
  const { tables, removal } = planner;
  const move = tables.moves.from(incarnation);
  if (move === undefined) return;
  const { source } = move;
  planner.footprint.writes(nameKey.queue(source.vhost, source.name));
  if (stage === 'over') return removal.queueAlone(source);
  if (stages.indexOf(stage) <= stages.indexOf(move.stage)) return;
  if (stage === MoveStage.closing) awaitClosing(planner);
  planner.creates.push({ kind: 'move', position: 0, queue: source.position, stage, durable: isDurable(source) });
  for (const older of tables.moves.stagesOf(source.position)) removal.stage(older);
}

/** One at a time: what waits for it waits in one line (DeferredPublishes). */
function awaitClosing({ tables, footprint }: Planner): void {
  footprint.writes(nameKey.closing);
  for (const { stage } of tables.moves.all())
    if (stage === MoveStage.closing) throw new NotYet('another queue is about to move');
}

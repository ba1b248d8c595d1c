/**
 * A node's committed view of the wiring: what exists, by name, by position, by group and by owner, and where messages go.
 *
 * It is told of objects that appear and go, in the order of the log or, while the node recovers or joins, in any order:
 * what it answers depends only on the set of live objects. A binding whose queue or exchange is not there leads nowhere
 * until it is.
 */
import { Refusal, RefusedError } from '../../base/errors.js';
import type { Random } from '../../base/random.js';
import { allRules, type Rules } from '../../base/rules.js';
import type { Lsn } from '../../log/lsn.js';
import { AccessTables } from '../access/access-tables.js';
import type { Arguments, ConnectionId, Properties } from '../broker.js';
import { nowhere, Router, type Routing } from '../exchange/router.js';
import { addNamed, type Newest, removeNamed } from '../exchange/newest.js';
import type { ExchangeTarget, QueueTarget } from '../exchange/target.js';
import { GroupQueues, type QueueChange } from './group-queues.js';
import { Moves } from './moves.js';
import { OwnerBoots } from './owner-boots.js';
import { Policies } from '../policy/policies.js';
import { QueueSettingsTable } from '../policy/queue-settings.js';
import {
  type BindingObject,
  type ExchangeObject,
  type GlobalParameterObject,
  MoveStage,
  type QueueObject,
  type UseObject,
  type VhostObject,
  type WiringObject,
} from './objects.js';
import { defaultVhost, VhostNames } from './vhost-names.js';

/** Hears of queues right after the tables have changed. */
export interface QueueObserver {
  queueAppeared(queue: QueueObject): void;
  queueGone(queue: QueueObject): void;
}

export class WiringTables {
  readonly policies: Policies = new Policies();
  /** Users, permissions, limits. */
  readonly access: AccessTables = new AccessTables();
  /** What holds for queues, of arguments, policies and defaults. */
  readonly settings: QueueSettingsTable = new QueueSettingsTable(this.policies);
  /** What goes with the end of which boot. */
  readonly boots: OwnerBoots = new OwnerBoots();
  /** Queues on their way to another group. */
  readonly moves: Moves = new Moves((incarnation) => this.queueAt(incarnation));
  private readonly vhosts = new Map<string, VhostNames>([[defaultVhost, new VhostNames(defaultVhost)]]);
  private readonly live = new Map<Lsn, WiringObject>();
  private readonly groups = new Map<number, GroupQueues>();
  private readonly changedGroups = new Set<GroupQueues>();
  /** By the incarnation of the queue that has had a consumer. */
  private readonly uses = new Map<Lsn, UseObject>();
  private readonly owned = new Map<ConnectionId, Map<Lsn, QueueObject>>();
  private readonly parameters = new Map<string, Newest<GlobalParameterObject>>();
  private readonly observers = new Set<QueueObserver>();
  private readonly router: Router;
  private readonly counts: { [kind in WiringObject['kind']]: number } = {
    vhost: 0,
    exchange: 0,
    queue: 0,
    binding: 0,
    use: 0,
    policy: 0,
    operatorPolicy: 0,
    globalParameter: 0,
    move: 0,
    user: 0,
    permission: 0,
    topicPermission: 0,
    limits: 0,
    founded: 0,
  };
  private appliedVersion: Lsn = 0;
  private routes = 0;

  /** @param random for exchanges that route by chance. */
  constructor(random: Pick<Random, 'int'> = { int: () => 0 }, { alternateTaken }: Rules = allRules) {
    this.router = new Router({ policies: this.policies, random, alternateTaken });
  }

  /** The lsn of the last wiring event applied. */
  get version(): Lsn {
    return this.appliedVersion;
  }

  /** Changes with everything that may change a route. */
  get routingVersion(): number {
    return this.routes;
  }

  /** Number of live declared objects of a kind. */
  count(kind: WiringObject['kind']): number {
    return this.counts[kind];
  }

  /** An object has appeared. Its own `position` does not matter. Known positions are passed over. */
  appeared(position: Lsn, object: WiringObject): void {
    if (this.live.has(position)) return;
    const placed = object.position === position ? object : { ...object, position };
    this.live.set(position, placed);
    this.counts[placed.kind]++;
    this.routes++;
    this.boots.add(placed);
    switch (placed.kind) {
      case 'vhost':
        this.vhost(placed.name).declarations.add(placed);
        break;
      case 'exchange':
        this.vhost(placed.vhost).exchange(placed.name).add(placed);
        break;
      case 'queue':
        this.queueAppeared(placed);
        break;
      case 'binding':
        this.bindingAppeared(placed);
        break;
      case 'use':
        this.uses.set(placed.queue, placed);
        break;
      case 'policy':
      case 'operatorPolicy':
        this.policies.add(placed);
        break;
      case 'globalParameter':
        addNamed(this.parameters, placed);
        break;
      case 'move':
        this.moves.stageAppeared(placed);
        break;
      default:
        this.access.add(placed);
    }
  }

  /** The object at `position` is gone. Unknown positions are passed over: nothing appears after it is gone. */
  gone(position: Lsn): void {
    const object = this.live.get(position);
    if (object === undefined) return;
    this.live.delete(position);
    this.counts[object.kind]--;
    this.routes++;
    this.boots.remove(object);
    switch (object.kind) {
      case 'vhost':
        this.vhostGone(object);
        break;
      case 'exchange':
        this.exchangeGone(object);
        break;
      case 'queue':
        this.queueGone(object);
        break;
      case 'binding':
        this.bindingGone(object);
        break;
      case 'use':
        this.uses.delete(object.queue);
        break;
      case 'policy':
      case 'operatorPolicy':
        this.policies.remove(object);
        break;
      case 'globalParameter':
        removeNamed(this.parameters, object);
        break;
      case 'move':
        this.moves.stageGone(object);
        break;
      default:
        this.access.remove(object);
    }
  }

  /** All events up to `version` have been applied. To be called after each batch. */
  applied(version: Lsn): void {
    this.appliedVersion = version;
    for (const group of this.changedGroups) group.stamp(version);
    this.changedGroups.clear();
    this.access.settled((name) => this.hasVhost(name));
  }

  observe(observer: QueueObserver): { close(): void } {
    this.observers.add(observer);
    return { close: () => this.observers.delete(observer) };
  }

  hasVhost(name: string): boolean {
    return this.vhosts.get(name)?.isDeclared === true || (name === defaultVhost && !this.access.isFounded);
  }

  /** What is noted about a vhost; undefined if it has no declaration. */
  vhostNamed(name: string): VhostObject | undefined {
    return this.vhosts.get(name)?.declarations.current;
  }

  /** All that declare it: one, or after an interrupted change more. */
  vhostsNamed(name: string): readonly VhostObject[] {
    return this.vhosts.get(name)?.declarations.all() ?? [];
  }

  /** Names of the vhosts that are there, in no particular order. */
  *vhostNames(): Generator<string, void> {
    for (const name of this.vhosts.keys()) if (this.hasVhost(name)) yield name;
  }

  /** Vhosts that are not there any more, while something is in them. Some may come twice. */
  *ghostVhosts(): Generator<string, void> {
    if (!this.access.isFounded) return;
    for (const names of this.vhosts.values()) if (!names.isDeclared && !names.isEmpty) yield names.name;
    for (const name of this.access.vhosts()) if (!this.hasVhost(name)) yield name;
    for (const name of this.policies.vhostNames()) if (!this.hasVhost(name)) yield name;
  }

  /** What is in a vhost or said of it, whether it is there or not; some of it twice. */
  *contentsOf(vhost: string): Generator<WiringObject, void> {
    yield* this.vhosts.get(vhost)?.contents() ?? [];
    yield* this.policies.ofVhost(vhost);
    yield* this.access.ofVhost(vhost);
  }

  globalParameter(name: string): GlobalParameterObject | undefined {
    return this.parameters.get(name)?.current;
  }

  /** All that have the name: one, or while it is being replaced, or after that was interrupted, more. */
  globalParametersNamed(name: string): readonly GlobalParameterObject[] {
    return this.parameters.get(name)?.all() ?? [];
  }

  /** Those in effect, in no particular order. */
  *globalParameters(): Generator<GlobalParameterObject, void> {
    for (const { current } of this.parameters.values()) yield current!;
  }

  /** Number of exchanges in a vhost, the predeclared ones too; those count as well that only bindings know of. */
  exchangeCount(vhost: string): number {
    return this.vhosts.get(vhost)?.exchanges.size ?? 0;
  }

  /** Number of queues in a vhost. */
  queueCount(vhost: string): number {
    return this.vhosts.get(vhost)?.queueCount ?? 0;
  }

  /** The live object declared at `position`. */
  at(position: Lsn): WiringObject | undefined {
    return this.live.get(position);
  }

  /** All live declared objects, in no particular order. */
  objects(): IterableIterator<WiringObject> {
    return this.live.values();
  }

  queue(vhost: string, name: string): QueueObject | undefined {
    return this.queueTarget(vhost, name)?.queue;
  }

  queueAt(incarnation: Lsn): QueueObject | undefined {
    const object = this.live.get(incarnation);
    return object?.kind === 'queue' ? object : undefined;
  }

  /** The mark that the queue has had a consumer; kept of auto-delete queues only. */
  useOf(incarnation: Lsn): UseObject | undefined {
    return this.uses.get(incarnation);
  }

  /** The predeclared ones too, at position 0. */
  exchange(vhost: string, name: string): ExchangeObject | undefined {
    return this.exchangeTarget(vhost, name)?.exchange;
  }

  /** A queue's name with the bindings that lead to it. */
  queueTarget(vhost: string, name: string): QueueTarget | undefined {
    return this.vhosts.get(vhost)?.queues.get(name);
  }

  /** An exchange's name with the bindings that lead to it and leave it. */
  exchangeTarget(vhost: string, name: string): ExchangeTarget | undefined {
    return this.vhosts.get(vhost)?.exchanges.get(name);
  }

  /** What has a name in a vhost; the wiring may change while they are gone through. */
  *queuesIn(vhost: string): Generator<QueueObject, void> {
    for (const { queue } of this.vhosts.get(vhost)?.queues.values() ?? []) if (queue !== undefined) yield queue;
  }

  /** The predeclared ones too, at position 0. */
  *exchangesIn(vhost: string): Generator<ExchangeObject, void> {
    for (const { exchange } of this.vhosts.get(vhost)?.exchanges.values() ?? [])
      if (exchange !== undefined) yield exchange;
  }

  *bindingsIn(vhost: string): Generator<BindingObject, void> {
    for (const source of this.vhosts.get(vhost)?.exchanges.values() ?? []) yield* source.outbound();
  }

  /** Queues that are exclusive to a connection. */
  queuesOwnedBy(connection: ConnectionId): Iterable<QueueObject> {
    return this.owned.get(connection)?.values() ?? [];
  }

  /** Queues whose messages the group holds. */
  queuesOfGroup(group: number): Iterable<QueueObject> {
    return this.groups.get(group)?.queues.values() ?? [];
  }

  hasQueues(group: number): boolean {
    return (this.groups.get(group)?.queues.size ?? 0) > 0;
  }

  /**
   * The group's queues that have come or gone after wiring version `version`, oldest first; undefined if not all of them are
   * remembered: then compare with `queuesOfGroup`. While a node recovers or joins, changes are noted later than their
   * own version, never earlier.
   */
  queueChanges(group: number, version: Lsn): readonly QueueChange[] | undefined {
    const queues = this.groups.get(group);
    return queues === undefined ? [] : queues.since(version);
  }

  /**
   * The queues for a message.
   * @param headers the message's headers; called once at most, and only if an exchange needs them.
   * @param moreKeys as if it were published with each of these as well
   * @throws RefusedError not-found if there is no such exchange, access-refused if it is internal.
   */
  route(
    vhost: string,
    exchange: string,
    routingKey: string,
    headers: () => Arguments,
    moreKeys?: readonly string[],
    properties?: Properties,
  ): Routing {
    const names = this.vhosts.get(vhost);
    const from = names?.exchanges.get(exchange);
    if (names === undefined || from?.exchange === undefined) {
      throw new RefusedError(Refusal.notFound, `no exchange '${exchange}' in vhost '${vhost}'`);
    }
    if (from.exchange.internal) {
      throw new RefusedError(
        Refusal.accessRefused,
        `cannot publish to internal exchange '${exchange}' in vhost '${vhost}'`,
      );
    }
    return this.placed(this.router.route(from, routingKey, names.exchanges, headers, moreKeys, properties));
  }

  /**
   * Where the broker's own messages to an exchange go, be it internal or not. Nowhere, if there is no such exchange.
   * @param hasWaited the time has come for which it had the message wait.
   */
  routeFrom(
    vhost: string,
    exchange: string,
    routingKey: string = '',
    headers: () => Arguments = () => ({}),
    moreKeys?: readonly string[],
    properties?: Properties,
    hasWaited = false,
  ): Routing {
    const names = this.vhosts.get(vhost);
    const from = names?.exchanges.get(exchange);
    if (names === undefined || from?.exchange === undefined) return nowhere;
    return this.placed(this.router.route(from, routingKey, names.exchanges, headers, moreKeys, properties, hasWaited));
  }

  /** Where publishes go while queues move. */
  private placed(routing: Routing): Routing {
    if (this.moves.count === 0) return routing;
    let waits = false;
    const queues = routing.queues.map((queue) => {
      const move = this.moves.of(queue);
      if (move?.stage === MoveStage.closing) waits = true;
      return move?.stage === MoveStage.draining ? move.source : queue;
    });
    return { ...routing, queues, waits };
  }

  /** The bindings that leave the exchanges of that name, in all vhosts. */
  *bindingsFrom(exchange: string): Generator<BindingObject, void> {
    for (const names of this.vhosts.values()) yield* names.exchanges.get(exchange)?.outbound() ?? [];
  }

  private vhost(name: string): VhostNames {
    let names = this.vhosts.get(name);
    if (names === undefined) {
      names = new VhostNames(name);
      this.vhosts.set(name, names);
    }
    return names;
  }

  private tidy(names: VhostNames): void {
    if (!names.isDeclared && names.isEmpty && names.name !== defaultVhost) this.vhosts.delete(names.name);
  }

  private vhostGone(vhost: VhostObject): void {
    const names = this.vhost(vhost.name);
    names.declarations.remove(vhost);
    if (!names.isDeclared) this.access.vhostGone(vhost.name);
    this.tidy(names);
  }

  private exchangeGone(exchange: ExchangeObject): void {
    const names = this.vhost(exchange.vhost);
    const target = names.exchange(exchange.name);
    target.remove(exchange);
    names.tidy(target);
    this.tidy(names);
  }

  private group(id: number): GroupQueues {
    let group = this.groups.get(id);
    if (group === undefined) {
      group = new GroupQueues();
      this.groups.set(id, group);
    }
    this.changedGroups.add(group);
    return group;
  }

  private queueAppeared(queue: QueueObject): void {
    const names = this.vhost(queue.vhost);
    names.queueCount++;
    names.queue(queue.name).add(queue);
    this.group(queue.group).appeared(queue);
    this.moves.queueAppeared(queue);
    if (queue.owner !== '') {
      let owned = this.owned.get(queue.owner);
      if (owned === undefined) {
        owned = new Map();
        this.owned.set(queue.owner, owned);
      }
      owned.set(queue.position, queue);
    }
    for (const observer of this.observers) observer.queueAppeared(queue);
  }

  private queueGone(queue: QueueObject): void {
    const names = this.vhost(queue.vhost);
    const target = names.queue(queue.name);
    names.queueCount--;
    target.remove(queue);
    names.tidy(target);
    this.tidy(names);
    this.settings.gone(queue);
    this.group(queue.group).gone(queue);
    this.moves.queueGone(queue);
    const owned = this.owned.get(queue.owner);
    owned?.delete(queue.position);
    if (owned?.size === 0) this.owned.delete(queue.owner);
    for (const observer of this.observers) observer.queueGone(queue);
  }

  private bindingAppeared(binding: BindingObject): void {
    const names = this.vhost(binding.vhost);
    const target =
      binding.destinationKind === 'queue' ? names.queue(binding.destination) : names.exchange(binding.destination);
    target.addInbound(binding);
    names.exchange(binding.source).bind(binding, target);
  }

  private bindingGone(binding: BindingObject): void {
    const names = this.vhost(binding.vhost);
    const source = names.exchange(binding.source);
    const target = source.unbind(binding);
    if (target !== undefined) {
      target.removeInbound(binding);
      names.tidy(target);
    }
    names.tidy(source);
    this.tidy(names);
  }
}

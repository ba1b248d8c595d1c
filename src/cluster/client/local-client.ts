import type { EnqueueView } from '../../log/record.js';
import type { GroupClientPort } from '../../model/group-port.js';
import type { TerminusAnswer } from '../../model/terminus/operations.js';
import type { FlowStops } from './flow-stops.js';
import type { GroupClient } from './group-client.js';

/** An attachment on the primary's own node: hands the service's answers to the client as long as it is the present one. */
export class LocalClient implements GroupClientPort {
  readonly congested: boolean = false;
  private readonly client: GroupClient;
  private readonly number: number;
  private readonly stops: FlowStops;

  constructor(client: GroupClient, number: number, stops: FlowStops) {
    this.client = client;
    this.number = number;
    this.stops = stops;
  }

  get stopped(): Iterable<number> {
    return this.stops.of(this.client.group);
  }

  flow(incarnations: readonly number[], isStopped: boolean, isWhole: boolean): void {
    if (this.client.isCurrent(this.number)) this.stops.told(this.client.group, incarnations, isStopped, isWhole);
  }

  wiringReached(): void {
    if (this.client.isCurrent(this.number)) this.client.touch();
  }
  confirmed(sequence: number, inSync: number): void {
    if (this.client.isCurrent(this.number)) this.client.confirmed(sequence, inSync);
  }
  rejected(sequence: number): void {
    if (this.client.isCurrent(this.number)) this.client.rejected(sequence);
  }
  settled(count: number): void {
    if (this.client.isCurrent(this.number)) this.client.settled(count);
  }
  deliver(
    subscriber: number,
    incarnation: number,
    position: number,
    redelivered: boolean,
    message: EnqueueView,
    returns: number,
  ): void {
    if (this.client.isCurrent(this.number))
      this.client.deliver(subscriber, incarnation, position, redelivered, message, returns);
  }
  subscribed(subscriber: number, refusal: string): void {
    if (this.client.isCurrent(this.number)) this.client.subscribed(subscriber, refusal);
  }
  unsubscribed(subscriber: number): void {
    if (this.client.isCurrent(this.number)) this.client.unsubscribed(subscriber);
  }
  drained(subscriber: number): void {
    if (this.client.isCurrent(this.number)) this.client.drained(subscriber);
  }
  cancelled(subscriber: number, reason: string): void {
    if (this.client.isCurrent(this.number)) this.client.cancelled(subscriber, reason);
  }
  got(
    request: number,
    incarnation: number,
    position: number,
    redelivered: boolean,
    remaining: number,
    message: EnqueueView,
    returns: number,
  ): void {
    if (this.client.isCurrent(this.number))
      this.client.got(request, incarnation, position, redelivered, remaining, message, returns);
  }
  gotNothing(request: number, refusal: string): void {
    if (this.client.isCurrent(this.number)) this.client.gotNothing(request, refusal);
  }
  counted(request: number, ready: number, unacknowledged: number, consumers: number): void {
    if (this.client.isCurrent(this.number)) this.client.counted(request, ready, unacknowledged, consumers);
  }
  purged(request: number, count: number, refusal: string): void {
    if (this.client.isCurrent(this.number)) this.client.purged(request, count, refusal);
  }
  terminusAnswered(request: number, answer: TerminusAnswer): void {
    if (this.client.isCurrent(this.number)) this.client.requests.terminusAnswered(request, answer);
  }
  bodyPart(reader: number, index: number, bytes: Uint8Array, start: number, end: number): void {
    if (this.client.isCurrent(this.number)) this.client.bodies.part(reader, index, bytes, start, end);
  }
  bodyGone(reader: number): void {
    if (this.client.isCurrent(this.number)) this.client.bodies.gone(reader);
  }
}

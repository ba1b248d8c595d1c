import { MessageParts } from '../../src/log/record.js';
import { nobody } from '../../src/model/broker.js';
import type { ReplyAddress } from '../../src/model/replies.js';
import { encodeMessage, decodeMessage } from '../client/message.js';
import { Connection, type ConnectionOwner } from '../client/connection.js';
import { noLabels } from '../queue-kind.js';
import type { SimNode } from '../node.js';
import type { SimWorld } from '../world.js';
import { Actor } from './actor.js';

/** Through the network, and what the nodes need. */
const ways = 4;
const workMsMax = 50;

/** A letter's reader, who is not there any more when the letter comes, or gets it once. */
interface Exchange {
  readonly address: string;
  readonly number: number;
  isClosed: boolean;
  received: number;
}

/**
 * Waits for replies at addresses of its own (direct reply-to), to which it has them sent over another connection. A reply comes once
 * at most, to whom it is for, and not when that has closed its address; and while nothing fails it does come.
 */
export class Correspondent extends Actor {
  private readonly writer: ConnectionOwner;
  private count = 0;

  constructor(world: SimWorld, name: string) {
    super(world, name);
    world.publisherNumber(name);
    const nothing = (): void => {};
    const told = { confirmed: nothing, refused: nothing, unroutable: nothing, delivered: nothing, cancelled: nothing };
    this.writer = { name: `${name}-writer`, lost: nothing, ...told };
  }

  async run(): Promise<void> {
    while (!this.stopping) {
      await this.sleep(20, 600);
      await this.correspond();
    }
    this.disconnect();
  }

  private async correspond(): Promise<void> {
    const { world } = this;
    const connection = await this.connected();
    const number = ++this.count;
    let exchange: Exchange | undefined;
    let address: ReplyAddress | undefined;
    const opened = await this.patiently(
      'open an address for replies',
      connection,
      connection.request(async ({ broker }) => {
        address = broker.replies.open({ reply: (message) => this.received(exchange!, decodeMessage(message).number) });
        exchange = { address: address.text, number, isClosed: false, received: 0 };
      }),
    );
    if (opened.kind !== 'ok' || exchange === undefined) return;
    const since = world.loop.now;
    const wasQuiet = world.history.quiet;
    const node = this.random.pick(world.nodes);
    const sent = await this.reply(node, exchange);
    await world.loop.sleep(ways * world.network.slowestMs + workMsMax);
    const isUndisturbed = wasQuiet && world.history.quiet && world.history.quietSince <= since;
    if (sent && connection.isOpen && isUndisturbed && exchange.received === 0)
      world.fail('replies', `${this.name}: the reply ${number} sent through ${node.name} did not come`);
    await connection.request(async () => {
      address!.close();
      exchange!.isClosed = true;
    });
    if (this.random.chance(0.3)) await this.reply(node, exchange);
  }

  /** Over a connection of its own. False: that is not there. */
  private async reply(node: SimNode, { address, number }: Exchange): Promise<boolean> {
    const { world } = this;
    const connection = await Connection.open(world, node, this.writer);
    if (connection === undefined) return false;
    const outcome = await this.patiently(
      'send a reply',
      connection,
      connection.request(async ({ broker }) => {
        const route = broker.route('/', '', address, () => ({}));
        const parts = new MessageParts();
        const wire = { publisher: world.publisherNumber(this.name), number };
        encodeMessage(parts, wire, '', address, false, this.random.int(100), noLabels);
        broker.publish(route, parts, nobody, 0);
      }),
    );
    connection.close();
    return outcome.kind === 'ok';
  }

  private received(exchange: Exchange, number: number): void {
    if (number !== exchange.number)
      this.world.fail('replies', `reply ${number} comes to who waits for ${exchange.number}`);
    if (exchange.isClosed) this.world.fail('replies', `reply ${number} comes when its address is closed`);
    if (++exchange.received > 1) this.world.fail('replies', `reply ${number} comes twice`);
  }
}

/** A publish whose bytes are sent part by part. */
import assert from 'node:assert/strict';
import { BasicProperties, BasicPublish, ConfirmSelect, MethodId, QueueDeclare } from '../../src/amqp091/codec/index.js';
import { RawClient } from './raw-client.js';

export class HalfPublish {
  private readonly client: RawClient;
  private readonly bytes: Buffer;
  private sent = 0;

  private constructor(client: RawClient, bytes: Buffer) {
    this.client = client;
    this.bytes = bytes;
  }

  /** Declares a durable queue, and begins to publish a persistent message to it: a tenth of its bytes. */
  static async begin(port: number, queue: string, body: Buffer): Promise<HalfPublish> {
    const client = await RawClient.open(port);
    await client.openChannel(1);
    client.send(1, new ConfirmSelect(false));
    await client.expect(MethodId.confirmSelectOk, 1);
    client.send(1, new QueueDeclare(queue, false, true, false, false, false, {}));
    await client.expect(MethodId.queueDeclareOk, 1);
    const properties = Object.assign(new BasicProperties(), { deliveryMode: 2 });
    client.frames.methodWithContent(1, new BasicPublish('', queue, false, false), properties, body);
    const half = new HalfPublish(client, Buffer.from(client.frames.output.take()));
    await half.go(0.1);
    return half;
  }

  /** Sends up to that part of all bytes. */
  async go(part: number): Promise<void> {
    const end = Math.floor(this.bytes.length * part);
    const piece = this.bytes.subarray(this.sent, end);
    this.sent = end;
    await new Promise<void>((resolve, reject) => {
      this.client.socket.write(piece, (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Sends the rest; resolves with its confirm. */
  async finish(): Promise<void> {
    await this.go(1);
    const { method } = await this.client.expect(MethodId.basicAck, 1);
    assert.equal(method.deliveryTag, 1);
    this.client.end();
  }
}

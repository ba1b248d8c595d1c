import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { allRules } from '../../../src/base/rules.js';
import { RefusedError } from '../../../src/base/errors.js';
import { DirectReplies } from '../../../src/cluster/client/direct-replies.js';
import { MessageParts } from '../../../src/log/record.js';
import { World } from './world.js';

interface Node {
  replies: DirectReplies;
  got: string[];
}

async function setup(version = 3): Promise<{ world: World; a: Node; b: Node }> {
  const world = new World();
  const nodes = await world.start(['a', 'b']);
  const [a, b] = nodes.map(({ name, boot, links, clock }) => {
    const random = world.random.fork(`replies of ${name}`);
    return {
      replies: new DirectReplies({ rules: allRules, boot, links, random, clock, version: () => version }),
      got: [],
    };
  }) as Node[] as [Node, Node];
  return { world, a, b };
}

function message(body: string): MessageParts {
  const parts = new MessageParts();
  parts.bodyBytes = Buffer.from(body);
  parts.bodyLength = parts.bodyBytes.length;
  return parts;
}

function listen({ replies, got }: Node): ReturnType<DirectReplies['open']> {
  return replies.open({
    reply: ({ bytes, bodyStart, bodyLength }) =>
      void got.push(Buffer.from(bytes.subarray(bodyStart, bodyStart + bodyLength)).toString()),
  });
}

describe('replies to waiting clients', () => {
  it('come at their own node, and from another one, in order', async () => {
    const { world, a, b } = await setup();
    const address = listen(a);
    a.replies.send(address.text, message('here'));
    for (let i = 0; i < 3; i++) b.replies.send(address.text, message(`there ${i}`));
    await world.run(10);
    assert.deepEqual(a.got, ['here', 'there 0', 'there 1', 'there 2']);
    assert.deepEqual(b.got, []);
  });

  it('are gone when nobody waits for them, or nobody can be reached', async () => {
    const { world, a, b } = await setup();
    const address = listen(a);
    const [prefix, secret] = [address.text.slice(0, -32), address.text.slice(-32)];
    for (const guess of [prefix + secret.replace(/./g, '0'), 'amq.rabbitmq.reply-to.', 'amq.rabbitmq.reply-to.9.1.x'])
      b.replies.send(guess, message('guessed'));
    address.close();
    b.replies.send(address.text, message('late'));
    a.replies.send(address.text, message('late'));
    await world.run(10);
    assert.deepEqual(a.got, []);
  });

  it('have addresses that other nodes can ask for', async () => {
    const { world, a, b } = await setup();
    const address = listen(a);
    const answers: boolean[] = [];
    const ask = (node: Node, text: string): void => void node.replies.exists(text).then((yes) => answers.push(yes));
    ask(a, address.text);
    ask(b, address.text);
    ask(b, 'amq.rabbitmq.reply-to.junk');
    await world.run(10);
    assert.equal(answers.filter(Boolean).length, 2);
    assert.equal(answers.length, 3);
    address.close();
    ask(b, address.text);
    await world.run(10);
    assert.deepEqual(answers.at(-1), false);
  });

  it('are not begun while there are nodes that do not know them', async () => {
    const { a } = await setup(2);
    assert.throws(
      () => listen(a),
      (error: RefusedError) => error.kind === 'not-implemented' && /older program/.test(error.message),
    );
  });

  it('have different addresses', async () => {
    const { a } = await setup();
    const texts = Array.from({ length: 100 }, () => listen(a).text);
    assert.equal(new Set(texts.map((text) => text.slice(-32))).size, 100);
    assert.ok(texts.every((text) => text.length <= 255));
  });
});

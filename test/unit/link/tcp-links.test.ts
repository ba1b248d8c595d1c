/** Links and liveness between real processes. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually } from '../coordinator/contract.js';
import { tcpNode } from './tcp-node.js';

const script = fileURLToPath(new URL('./tcp-child.js', import.meta.url));

/** Our node `own` with a link to a child that is called `other`. */
async function linked(own: string, other: string) {
  const node = await tcpNode(own, 1);
  const child: ChildProcess = spawn(process.execPath, [script, other, '2'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [address] = (await once(child.stdout!, 'data')) as [Buffer];
  const members = [
    node.member,
    { ...node.member, node: other, store: `store-${other}`, boot: 2, address: address.toString().trim() },
  ];
  child.stdin!.write(JSON.stringify(members));
  node.links.setMembers(members);
  await eventually('the link is up', () => node.links.get(other) !== undefined);
  const end = async (): Promise<void> => {
    child.kill('SIGKILL');
    node.liveness.close();
    await node.links.close();
  };
  return { node, child, end };
}

for (const [own, other] of [
  ['n1', 'n2'],
  ['n2', 'n1'],
] as const) {
  test(`${own} knows at once that ${other} was killed`, async (context) => {
    const { node, child, end } = await linked(own, other);
    try {
      const gone = new Promise<string>((resolve) => {
        node.liveness.observe({ gone: (_node, _boot, reason) => resolve(reason), lapsed() {}, back() {} });
      });
      const began = performance.now();
      child.kill('SIGKILL');
      assert.equal(await gone, 'dead');
      context.diagnostic(`known dead ${(performance.now() - began).toFixed(1)} ms after kill -9`);
    } finally {
      await end();
    }
  });
}

test('frames of all sizes come back unchanged, many at a time', async (context) => {
  const { node, end } = await linked('n1', 'n2');
  try {
    let next = 0;
    const sizes = Array.from({ length: 400 }, (_, i) => (i % 50 === 49 ? 500_000 : (i * 97) % 3000));
    const done = new Promise<void>((resolve) => {
      node.links.handle(0xf0, (_link, { bytes, start, end }) => {
        assert.ok(Buffer.alloc(sizes[next]!, next).equals(bytes.subarray(start, end)), `frame ${next}`);
        if (++next === sizes.length) resolve();
      });
    });
    const began = performance.now();
    const link = node.links.get('n2')!;
    sizes.forEach((size, i) => link.send(0xf0, 0, new Uint8Array(size).fill(i)));
    await done;
    context.diagnostic(`4.6 MB there and back in ${(performance.now() - began).toFixed(0)} ms`);
  } finally {
    await end();
  }
});

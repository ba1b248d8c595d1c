// Sends numbered messages through a link that is resumed: each is in the queue exactly once, though nodes die meanwhile.
//
//   node examples/rhea/exactly-once-send.mjs 1000
import rhea from 'rhea';
import { ResumingSender } from 'understudy-mq/resume';
import { connection, declare, nodes, queue } from './nodes.mjs';

const count = Number(process.argv[2] ?? 1000);
/** Messages without outcome at a time. */
const window = 100;

await declare();
// The container's id and the link's name say whose the link is.
const sender = new ResumingSender(rhea.create_container({ id: 'exactly-once-send' }), {
  nodes,
  connection,
  name: 'numbers',
  address: `/queues/${queue}`,
  timeoutSeconds: 300,
  onTrouble: (reason) => console.log(`connection lost (${reason}), trying the next node`),
});

const outcomes = {};
const open = new Set();
for (let number = 1; number <= count; number++) {
  const sent = sender.send({ body: String(number) }).then((outcome) => {
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    open.delete(sent);
  });
  open.add(sent);
  if (open.size >= window) await Promise.race(open);
}
await sender.close();
console.log('outcomes:', outcomes);

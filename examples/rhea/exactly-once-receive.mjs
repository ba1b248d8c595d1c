// Receives numbered messages through a link that is resumed: each is given to us exactly once, though nodes die meanwhile.
//
//   node examples/rhea/exactly-once-receive.mjs
import rhea from 'rhea';
import { ResumingReceiver } from 'understudy-mq/resume';
import { connection, declare, nodes, queue } from './nodes.mjs';

await declare();
const seen = new Set();
let twice = 0;
const options = {
  nodes,
  connection,
  name: 'numbers',
  address: `/queues/${queue}`,
  timeoutSeconds: 300,
  onTrouble: (reason) => console.log(`connection lost (${reason}), trying the next node`),
};
new ResumingReceiver(rhea.create_container({ id: 'exactly-once-receive' }), options, async ({ message, accept }) => {
  if (seen.has(message.body)) console.log(`${message.body} came twice, ${++twice} in all: was it sent twice?`);
  seen.add(message.body);
  if (seen.size % 100 === 0) console.log(`${seen.size} messages, the last one ${message.body}`);
  // Done when it resolves: the broker will not give it to anybody again.
  await accept();
});
console.log('waiting for messages; end with Ctrl+C');

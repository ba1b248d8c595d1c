/** node examples/rhea/send.mjs [COUNT]: sends numbers, and says which are safe. What got no outcome is sent again. */
import { connect } from './connect.mjs';
import { declareQueue } from './queue.mjs';

const queue = 'rhea-numbers';
const window = 100;
const count = Number(process.argv[2] ?? 1000);
const connection = connect();
await declareQueue(connection, queue);
const sender = connection.open_sender(`/queues/${queue}`);

/** By delivery, those without outcome. */
const open = new Map();
const again = [];
let next = 1;

function send() {
  while (sender.sendable() && open.size < window) {
    const number = again.shift() ?? (next <= count ? next++ : undefined);
    if (number === undefined) break;
    open.set(sender.send({ durable: true, body: number }), number);
  }
  if (next > count && open.size === 0 && again.length === 0) connection.close();
}

sender.on('sendable', send);
sender.on('accepted', ({ delivery }) => {
  console.log(`confirmed ${open.get(delivery)}`);
  open.delete(delivery);
  send();
});
for (const refused of ['released', 'rejected', 'modified'])
  sender.on(refused, ({ delivery }) => {
    again.push(open.get(delivery));
    open.delete(delivery);
    setTimeout(send, 100);
  });
connection.on('disconnected', () => {
  for (const number of open.values()) {
    console.log(`again ${number}`);
    again.push(number);
  }
  open.clear();
});

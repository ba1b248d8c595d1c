/** node examples/rhea/receive.mjs [COUNT]: prints what comes, until so many different numbers have come. */
import { connect } from './connect.mjs';
import { declareQueue } from './queue.mjs';

const queue = 'rhea-numbers';
const count = Number(process.argv[2] ?? 1000);
const seen = new Set();
const connection = connect();
await declareQueue(connection, queue);
const receiver = connection.open_receiver({ source: `/queues/${queue}`, credit_window: 50, autoaccept: false });
receiver.on('message', ({ message, delivery }) => {
  // A delivery that its client had not settled when the node was lost comes again, and says so.
  console.log(`got ${message.body}${message.first_acquirer ? '' : ' redelivered'}`);
  seen.add(message.body);
  delivery.accept();
  if (seen.size >= count) connection.close();
});

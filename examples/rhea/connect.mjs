/** A connection that finds the primary of a cluster in hot standby, and the next one when that is lost: the part to take along. */
import rhea from 'rhea';

/** The nodes that `npm run cluster` starts; AMQP_URLS names others, with commas. */
const nodes = process.env.AMQP_URLS ?? 'amqp://127.0.0.1:5672,amqp://127.0.0.1:5673,amqp://127.0.0.1:5674';
const redirect = 'amqp:connection:redirect';
const pauseMs = 200;

/** Links of the connection are attached again by rhea, wherever it goes. */
export function connect(container = rhea.create_container()) {
  const first = new URL(nodes.split(',')[0]);
  let places = nodes
    .split(',')
    .map((url) => ({ host: new URL(url).hostname, port: Number(new URL(url).port || 5672) }));
  let next = 0;
  const placeOf = ({ 'network-host': host, port }) => ({ host, port });
  const connection = container.connect({
    username: decodeURIComponent(first.username || 'guest'),
    password: decodeURIComponent(first.password || 'guest'),
    connection_details: () => places[next++ % places.length],
    // Who is sent elsewhere goes on there, and does not give up.
    non_fatal_errors: ['amqp:connection:forced', redirect],
    reconnect: pauseMs,
    idle_time_out: 20_000,
  });
  // What the node knows of the others is newer than what we began with; the first is the one to try.
  connection.on('connection_open', () => {
    const list = connection.properties?.['failover-server-list'] ?? [];
    if (list.length > 0) [places, next] = [list.map(placeOf), 0];
  });
  connection.on('connection_error', ({ error }) => {
    const { condition, info } = connection.remote.close?.error ?? error;
    if (condition === redirect) [places, next] = [[placeOf(info), ...places], 0];
  });
  connection.on('disconnected', ({ error }) => console.error(`connection lost: ${error?.message ?? 'it was closed'}`));
  return connection;
}

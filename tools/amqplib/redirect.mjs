/**
 * Loaded before amqplib's tests: most of them connect to localhost:5672 whatever the environment says. What goes there goes to
 * the port of 127.0.0.1 that AMQPLIB_PORT names instead ([::1]:5672 too: the broker under test has one address).
 */
import net from 'node:net';

const standardPort = 5672;
const port = Number(process.env.AMQPLIB_PORT);
const { connect } = net;

net.connect = function redirected(options, ...rest) {
  const target = Number(options?.port) === standardPort ? { ...options, host: '127.0.0.1', port } : options;
  return connect.call(net, target, ...rest);
};

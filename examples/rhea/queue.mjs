/** A queue, declared over AMQP itself: the management that RabbitMQ 4 has, too. */
import rhea from 'rhea';

/** Resolves when there is a durable queue of that name. */
export function declareQueue(connection, name) {
  return new Promise((resolve, reject) => {
    const session = connection.create_session();
    session.begin();
    const properties = { paired: true };
    const answers = session.open_receiver({ source: '/management', snd_settle_mode: 1, properties });
    const requests = session.open_sender({ target: '/management', snd_settle_mode: 1, properties });
    const to = `/queues/${encodeURIComponent(name)}`;
    // Again with each connection, until there is an answer.
    requests.on('sendable', () => {
      const body = rhea.types.wrap_map({ durable: true });
      requests.send({ message_id: name, subject: 'PUT', to, reply_to: '$me', body });
    });
    answers.once('message', ({ message }) => {
      if (message.subject < '300') resolve();
      else reject(new Error(`${to}: ${message.subject} ${message.body}`));
      requests.removeAllListeners('sendable');
      session.close();
    });
  });
}

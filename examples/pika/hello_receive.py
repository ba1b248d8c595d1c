"""Hello world: prints what comes from a queue."""

from nodes import with_connection


def receive(connection):
    channel = connection.channel()
    channel.queue_declare("hello", durable=True)

    def received(channel, method, properties, body):
        print(f"received: {body.decode()}", flush=True)
        channel.basic_ack(method.delivery_tag)

    channel.basic_consume("hello", received)
    print("waiting for messages; Ctrl-C ends", flush=True)
    channel.start_consuming()


try:
    with_connection(receive)
except KeyboardInterrupt:
    pass

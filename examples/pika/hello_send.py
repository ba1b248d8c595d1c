"""Hello world: puts one message into a queue."""

import sys

import pika
from nodes import with_connection

text = sys.argv[1] if len(sys.argv) > 1 else "Hello, world"


def send(connection):
    channel = connection.channel()
    channel.queue_declare("hello", durable=True)
    channel.confirm_delivery()
    # Returns when the broker has confirmed the message.
    channel.basic_publish("", "hello", text.encode(), pika.BasicProperties(delivery_mode=2))
    print(f"sent: {text}")


with_connection(send)

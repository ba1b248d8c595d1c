"""A work queue: sends tasks 1 to COUNT, each when the one before is safe."""

import json
import sys

import pika
from nodes import with_connection

count = int(sys.argv[1]) if len(sys.argv) > 1 else 10
waiting = list(range(1, count + 1))
tried = 0


def send(connection):
    global tried
    channel = connection.channel()
    channel.queue_declare("tasks", durable=True)
    channel.confirm_delivery()
    while waiting:
        number = waiting[0]
        # If the connection is lost before its confirm, it may have arrived, or not: sent again, it may be done twice.
        if number == tried:
            print(f"again: {number}", flush=True)
        tried = number
        body = json.dumps({"number": number, "workMs": 20})
        channel.basic_publish("", "tasks", body.encode(), pika.BasicProperties(delivery_mode=2), mandatory=True)
        waiting.pop(0)


with_connection(send)
print(f"sent: {count} tasks")

"""
Publisher confirms: COUNT messages into the queue `confirmed`. basic_publish returns when the message is on the disks of all nodes that are in
sync, and raises if the broker refuses it or has no queue for it.
"""

import sys
import time

import pika
from nodes import with_connection

count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
PAUSE_S = 0.002
number = 1
tried = 0


def publish(connection):
    global number, tried
    channel = connection.channel()
    channel.queue_declare("confirmed", durable=True)
    channel.confirm_delivery()
    while number <= count:
        if number == tried:
            print(f"again: {number}", flush=True)
        tried = number
        properties = pika.BasicProperties(delivery_mode=2, message_id=str(number))
        try:
            channel.basic_publish("", "confirmed", str(number).encode(), properties, mandatory=True)
            number += 1
        except pika.exceptions.NackError:
            print(f"refused: {number}", flush=True)
        time.sleep(PAUSE_S)


with_connection(publish)
print(f"confirmed: {count}")

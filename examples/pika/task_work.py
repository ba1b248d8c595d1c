"""
A work queue: takes one task at a time, and acknowledges it when it is done. Start as many as you like. If a worker, or its node, dies in
between, another worker gets the task, with the redelivered flag. So tasks must bear being done twice.
"""

import json

from nodes import with_connection


def work(connection):
    channel = connection.channel()
    channel.queue_declare("tasks", durable=True)
    channel.basic_qos(prefetch_count=1)

    def do(channel, method, properties, body):
        task = json.loads(body)
        # Work that takes longer than a heartbeat belongs into a thread of its own.
        connection.sleep(task["workMs"] / 1000)
        print(f"done: {task['number']}{' redelivered' if method.redelivered else ''}", flush=True)
        channel.basic_ack(method.delivery_tag)

    channel.basic_consume("tasks", do)
    print("waiting for tasks; Ctrl-C ends", flush=True)
    channel.start_consuming()


try:
    with_connection(work)
except KeyboardInterrupt:
    pass

"""Connections to a cluster, any node of which serves: pika tries the nodes in turn."""

import os
import sys
import time

import pika

# The nodes that `npm run cluster` starts; AMQP_URLS names others, with commas.
URLS = os.environ.get("AMQP_URLS", "amqp://127.0.0.1:5672,amqp://127.0.0.1:5673,amqp://127.0.0.1:5674").split(",")
PAUSE_S = 0.2


def with_connection(use):
    """Runs `use` with a connection. Whenever that is lost, runs it again with a new one: it must go on where it was. Returns what it returns."""
    while True:
        try:
            with pika.BlockingConnection([pika.URLParameters(url) for url in URLS]) as connection:
                return use(connection)
        except (pika.exceptions.AMQPConnectionError, pika.exceptions.ChannelWrongStateError) as error:
            print(f"connection lost: {error!r}", file=sys.stderr)
            time.sleep(PAUSE_S)

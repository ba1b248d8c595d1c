"""aio-pika: asyncio; a robust connection knows one address, so whoever has more makes another connection."""

import asyncio
import os
import sys

import aio_pika
import pamqp.exceptions

queue_name, count = sys.argv[1], int(sys.argv[2])
urls = os.environ["AMQP_URLS"].split(",")
# How it says, in one way or the other, that the connection is gone.
LOST = (aio_pika.exceptions.AMQPError, pamqp.exceptions.PAMQPException, OSError, RuntimeError, asyncio.TimeoutError)

got = set()
number = 1
tried = 0


async def received(message):
    async with message.process():
        got.add(int(message.body))
        print(f"got {message.body.decode()}{' redelivered' if message.redelivered else ''}", flush=True)


async def run(url):
    global number, tried
    async with await aio_pika.connect(url, timeout=2) as connection:
        consuming = await connection.channel()
        await consuming.set_qos(prefetch_count=10)
        queue = await consuming.declare_queue(queue_name, durable=True)
        await queue.consume(received)
        channel = await connection.channel(publisher_confirms=True)
        while number <= count:
            if tried == number:
                print(f"again {number}", flush=True)
            tried = number
            message = aio_pika.Message(str(number).encode(), delivery_mode=aio_pika.DeliveryMode.PERSISTENT)
            await channel.default_exchange.publish(message, routing_key=queue_name, timeout=15)
            print(f"confirmed {number}", flush=True)
            number += 1
            await asyncio.sleep(0.005)
        while len(got) < count:
            if connection.is_closed:
                raise ConnectionError("lost")
            await asyncio.sleep(0.01)


async def main():
    attempt = 0
    while number <= count or len(got) < count:
        try:
            await run(urls[attempt % len(urls)])
        except LOST as error:
            print(f"{error!r}", file=sys.stderr, flush=True)
            await asyncio.sleep(0.2)
        attempt += 1


asyncio.run(main())

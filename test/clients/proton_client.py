"""Qpid Proton for Python: see README.md. A connection for sending and one for receiving, in a thread each."""
import os
import sys
import threading
import time

from proton import ConnectionException, Message, ProtonException
from proton.utils import BlockingConnection

SECONDS = 5
urls = os.environ["AMQP_URLS"].split(",")
queue, count = "/queues/" + sys.argv[1], int(sys.argv[2])
got = set()


def say(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def each_node(work):
    """Runs work(connection) until it returns, at the next node whenever it fails."""
    node = 0
    while True:
        connection = None
        try:
            connection = BlockingConnection(urls[node % len(urls)], timeout=SECONDS, user="guest", password="guest")
            work(connection)
            connection.close()
            return
        except (ProtonException, OSError) as error:
            sys.stderr.write("%s: %s\n" % (urls[node % len(urls)], error))
            node += 1
            time.sleep(0.1)


sent = 0


def send(connection):
    global sent
    sender = connection.create_sender(queue)
    while len(confirmed) < count:
        number = len(confirmed) + 1
        if number <= sent:
            say("again %d" % number)
        sent = number
        # Returns when it is accepted.
        sender.send(Message(body=str(number), durable=True))
        confirmed.append(number)
        say("confirmed %d" % number)
        time.sleep(0.002)


def receive(connection):
    receiver = connection.create_receiver(queue, credit=10)
    while len(got) < count:
        message = receiver.receive(timeout=60)
        say("got %s%s" % (message.body, "" if message.first_acquirer else " redelivered"))
        got.add(message.body)
        receiver.accept()


confirmed = []
threads = [threading.Thread(target=each_node, args=(work,)) for work in (send, receive)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

"""Transactions as Qpid Proton does them: python3 transactions.py URL QUEUE. Prints `ok` and exits with 0 if all went well.

Moves what it has put into the queue to the queue QUEUE-out, some messages in each transaction; every third one is aborted first.
"""
import sys
from proton import Message
from proton.handlers import MessagingHandler, TransactionHandler
from proton.reactor import Container
from proton.utils import BlockingConnection

COUNT = 100
BATCH = 7
SECONDS = 20
url, queue = sys.argv[1:]


class Mover(MessagingHandler, TransactionHandler):
    def __init__(self):
        MessagingHandler.__init__(self, prefetch=0, auto_accept=False)
        TransactionHandler.__init__(self)
        self.transaction = None
        self.left = COUNT
        self.in_batch = 0
        self.round = 0
        self.aborted = 0

    def on_start(self, event):
        self.container = event.container
        self.connection = event.container.connect(url, reconnect=False)
        self.sender = self.container.create_sender(self.connection, "/queues/" + queue + "-out")
        self.receiver = self.container.create_receiver(self.connection, "/queues/" + queue)
        self.declare()

    def declare(self):
        self.container.declare_transaction(self.connection, handler=self, settle_before_discharge=True)

    def on_transaction_declared(self, event):
        self.transaction = event.transaction
        self.in_batch = 0
        self.receiver.flow(min(BATCH, self.left))

    def on_message(self, event):
        self.transaction.send(self.sender, event.message)
        self.transaction.accept(event.delivery)
        self.in_batch += 1
        if self.in_batch == min(BATCH, self.left):
            self.round += 1
            if self.round % 3 == 0:
                self.transaction.abort()
            else:
                self.transaction.commit()

    def on_transaction_committed(self, event):
        self.left -= self.in_batch
        if self.left > 0:
            self.declare()
        else:
            self.connection.close()

    def on_transaction_aborted(self, event):
        self.aborted += 1
        self.declare()

    def on_transaction_declare_failed(self, event):
        raise AssertionError("a declare failed")

    def on_transaction_commit_failed(self, event):
        raise AssertionError("a commit failed")


connection = BlockingConnection(url, timeout=SECONDS)
sender = connection.create_sender("/queues/" + queue)
for n in range(COUNT):
    sender.send(Message(body=n))
mover = Mover()
Container(mover).run()
assert mover.aborted > 3, mover.aborted
receiver = connection.create_receiver("/queues/" + queue + "-out", credit=COUNT)
moved = []
for _ in range(COUNT):
    moved.append(receiver.receive(timeout=SECONDS).body)
    receiver.accept()
assert sorted(moved) == list(range(COUNT)), moved
connection.close()
print("ok")

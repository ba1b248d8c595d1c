"""What a program with Qpid Proton does with a queue: python3 client.py URL QUEUE. Prints `ok` and exits with 0 if all went well."""
import sys
from proton import Message
from proton.reactor import AtMostOnce
from proton.utils import BlockingConnection, LinkDetached

COUNT = 500
SECONDS = 20
url, queue = sys.argv[1:]


def body(n):
    return {"n": n, "list": [1, 2.5, "x"], "nothing": None}


connection = BlockingConnection(url, timeout=SECONDS)
sender = connection.create_sender("/queues/" + queue)
for n in range(COUNT):
    # Returns when it is accepted, and throws if it is not.
    sender.send(Message(id=n, body=body(n), properties={"n": n}, durable=True, subject="s"))
receiver = connection.create_receiver("/queues/" + queue, credit=50)
for n in range(COUNT):
    message = receiver.receive(timeout=SECONDS)
    assert message.body == body(n) and message.id == n and message.subject == "s", (n, message)
    assert message.first_acquirer and message.delivery_count == 0, message
    receiver.accept()

# What is released comes again, flagged, before what is behind it.
for text in ["first", "second"]:
    sender.send(Message(body=text))
assert receiver.receive(timeout=SECONDS).body == "first"
receiver.release(delivered=False)
seen = [receiver.receive(timeout=SECONDS) for _ in range(2)]
assert {message.body: message.first_acquirer for message in seen}["first"] is False, seen
for _ in seen:
    receiver.accept()
receiver.close()

try:
    connection.create_receiver("/queues/no-such-" + queue)
    raise AssertionError("there is no such queue")
except LinkDetached as error:
    assert error.condition == "amqp:not-found", error.condition

# Settled from the beginning, and in many frames.
sender = connection.create_sender(queue, options=AtMostOnce())
receiver = connection.create_receiver(queue, credit=10, options=AtMostOnce())
for n in range(10):
    sender.send(Message(body="x" * 300000))
for n in range(10):
    assert len(receiver.receive(timeout=SECONDS).body) == 300000

# A client that asks, and waits for the answer.
answers = connection.create_receiver(None, dynamic=True)
sender.close()
asking = connection.create_sender(queue)
asking.send(Message(body="question", reply_to=answers.link.remote_source.address))
asked = receiver.receive(timeout=SECONDS)
connection.create_sender(asked.reply_to).send(Message(body="answer to " + asked.body))
assert answers.receive(timeout=SECONDS).body == "answer to question"
connection.close()
print("ok")

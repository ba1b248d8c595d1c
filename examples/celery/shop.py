"""
A shop as a Celery application: tasks with retries, with a time to come, with priorities, and in queues of their own.

    celery --app shop worker --concurrency 2
"""

import os

from celery import Celery
from kombu import Queue

# All nodes: Celery goes to the next one when its node is gone. AMQP_URLS names others, with commas.
urls = os.environ.get("AMQP_URLS", "amqp://127.0.0.1:5672,amqp://127.0.0.1:5673,amqp://127.0.0.1:5674").split(",")

app = Celery("shop", broker=urls, backend="rpc://")
app.conf.update(
    # A task counts as sent when the broker has confirmed it.
    broker_transport_options={"confirm_publish": True},
    broker_connection_max_retries=None,
    # A task is acknowledged when it is done: if its worker or its node dies, it is done again.
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    worker_prefetch_multiplier=1,
    # A worker that has lost its connection has lost what it had in advance too: it may as well finish it.
    worker_cancel_long_running_tasks_on_connection_loss=False,
    task_default_queue="orders",
    task_queues=[Queue("orders", routing_key="orders", max_priority=10), Queue("mail", routing_key="mail")],
    task_routes={"shop.confirm_by_mail": {"queue": "mail"}},
)


class CardReaderBusy(Exception):
    """It works the next time."""


@app.task(bind=True, autoretry_for=(CardReaderBusy,), retry_kwargs={"max_retries": 3, "countdown": 0.2})
def charge(self, order, cents):
    """Every third order needs a second try."""
    if order % 3 == 0 and self.request.retries == 0:
        raise CardReaderBusy(order)
    return {"order": order, "cents": cents, "tries": self.request.retries + 1}


@app.task(bind=True)
def ship(self, order):
    flags = " redelivered" if self.request.delivery_info.get("redelivered") else ""
    print(f"shipped: {order}{flags}", flush=True)
    return order


@app.task
def confirm_by_mail(receipt):
    return f"{receipt['order']}: {receipt['cents'] / 100:.2f} paid in {receipt['tries']} tries"

"""
Orders at the shop: COUNT of them, and what comes of each.

    python3 order.py 5
"""

import sys

from celery import group
from shop import charge, confirm_by_mail, ship

count = int(sys.argv[1]) if len(sys.argv) > 1 else 5
orders = range(1, count + 1)
TIMEOUT_S = 60


def paid(order):
    # The last one jumps the line.
    priority = 9 if order == count else 0
    return charge.s(order, order * 100).set(priority=priority) | confirm_by_mail.s()


receipts = group(paid(order) for order in orders).apply_async()
shipments = group(ship.s(order) for order in orders).apply_async(countdown=1)
print(f"ordered: {count}", flush=True)

# The backend rpc:// keeps results in a queue of this program's connection.
for text in receipts.get(timeout=TIMEOUT_S):
    print(f"receipt: {text}", flush=True)
for order in shipments.get(timeout=TIMEOUT_S):
    print(f"arrived: {order}", flush=True)

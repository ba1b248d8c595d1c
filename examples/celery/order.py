"""
Orders at the shop: COUNT of them, and what comes of them. `python3 order.py 5`
"""

import sys

from celery import chain
from shop import charge, confirm_by_mail, ship

count = int(sys.argv[1]) if len(sys.argv) > 1 else 5
orders = range(1, count + 1)

receipts = []
for order in orders:
    # The first one jumps the line.
    priority = 9 if order == 1 else 0
    receipts.append(chain(charge.s(order, order * 100).set(priority=priority), confirm_by_mail.s()).apply_async())
shipments = [ship.apply_async((order,), countdown=1) for order in orders]

for receipt in receipts:
    print(receipt.get(timeout=60), flush=True)
for shipment in shipments:
    print(f"shipped: {shipment.get(timeout=60)}", flush=True)

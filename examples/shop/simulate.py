"""Simulate a week of a web shop: what its customers do, and what its products cost.

    python simulate.py --out data

It writes `events.parquet`, in the order of time. A customer comes several times, looks at products (`view`), puts some into
the cart (`add to cart`), goes to the checkout (`checkout`) and pays (`pay-ok`), perhaps after payments that failed
(`pay-failed`); at each step some leave. Beside that, products change their price (`price`). The same seed gives the same
events.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

WEEK = datetime(2024, 3, 4, tzinfo=UTC)
SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("time", pa.timestamp("us", tz="UTC")),
        ("type", pa.string()),
        ("customer", pa.string()),
        ("product", pa.string()),
        ("price", pa.float64()),
    ]
)
Event = dict[str, Any]


def visit(chance: random.Random, customer: str, prices: dict[str, float]) -> Iterator[Event]:
    """What a customer does in one visit."""
    now = WEEK + timedelta(seconds=chance.uniform(0, 7 * 86400))

    def event(type: str, most_minutes: float, product: str | None = None) -> Event:
        nonlocal now
        now += timedelta(minutes=chance.uniform(0.1, most_minutes))
        return {"time": now, "type": type, "customer": customer, "product": product}

    filled = False
    for _ in range(chance.randint(1, 6)):
        product = chance.choice(list(prices))
        yield event("view", 5, product)
        if chance.random() < 0.3:
            filled = True
            yield event("add to cart", 3, product)
    # Somebody who thinks about it for long may be gone before the checkout, or come back late.
    if not filled or chance.random() < 0.35:
        return
    yield event("checkout", 45 if chance.random() < 0.2 else 6)
    if chance.random() < 0.2:
        return
    for _ in range(chance.choice([0, 0, 0, 0, 1, 1, 2, 3, 4, 5])):
        yield event("pay-failed", 4)
    if chance.random() < 0.9:
        yield event("pay-ok", 4)


def price_changes(chance: random.Random, prices: dict[str, float]) -> Iterator[Event]:
    """The prices of the week; each wanders, and some fall again and again."""
    for product, price in prices.items():
        now = WEEK
        falling = chance.random() < 0.3
        while (now := now + timedelta(hours=chance.uniform(1, 20))) < WEEK + timedelta(days=7):
            price = round(price * chance.uniform(0.88, 1.01 if falling else 1.12), 2)
            yield {"time": now, "type": "price", "product": product, "price": price}


def simulate(customers: int = 400, products: int = 40, seed: int = 1) -> pa.Table:
    """The events of a week."""
    chance = random.Random(seed)
    prices = {f"P{n:03}": round(chance.uniform(5, 200), 2) for n in range(1, products + 1)}
    events = list(price_changes(chance, prices))
    for n in range(1, customers + 1):
        for _ in range(chance.randint(1, 3)):
            events += visit(chance, f"C{n:04}", prices)
    events.sort(key=lambda event: event["time"])
    return pa.Table.from_pylist([{"id": n} | event for n, event in enumerate(events, 1)], schema=SCHEMA)


def main() -> None:
    """Write the events."""
    parser = argparse.ArgumentParser(description="Simulate a week of a web shop.")
    parser.add_argument("--out", type=Path, required=True, help="the folder to write to")
    parser.add_argument("--customers", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    table = simulate(options.customers, seed=options.seed)
    pq.write_table(table, options.out / "events.parquet")
    print(f"the shop: {table.num_rows:,} events of {options.customers} customers, seed {options.seed}")


if __name__ == "__main__":
    main()

"""Which random subscriptions a table with typed columns can serve."""

from __future__ import annotations

import pyarrow as pa

from tocsin.algebra.predicate import attributes
from tocsin.algebra.tokens.check import check
from tocsin.algebra.tokens.pattern import specs
from tocsin.algebra.tokens.subscription import Subscription
from tocsin.events import Catalog

COLUMNS = {"k": "int", "v": "float", "s": "string", "f": "bool"}
ARROW = {"k": pa.int64(), "v": pa.float64(), "s": pa.string(), "f": pa.bool_()}


def of_columns(subscription: Subscription) -> bool:
    """Whether a pattern looks only at attributes that a table can hold, each of one kind."""
    patterns = [subscription.pattern, *(d.pattern for d in subscription.definitions)]
    named = {name for pattern in patterns for spec in specs(pattern) for name in attributes(spec.filter)}
    in_table = "m" not in named and "m." not in f"{subscription.where!r}"
    return in_table and not check(subscription, Catalog(common=COLUMNS))

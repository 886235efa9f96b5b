"""Keys, order, identity and hashes of event rows."""

DOORS = (
    "keys",
    "microseconds",
    "signatures",
    "spark_hash",
    "stable_hash",
    "total_order",
    "value_numbers",
)

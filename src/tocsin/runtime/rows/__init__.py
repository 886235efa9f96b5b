"""Keys, order, identity and hashes of event rows."""

DOORS = (
    "field_path",
    "keys",
    "microseconds",
    "signatures",
    "spark_hash",
    "stable_hash",
    "total_order",
    "value_numbers",
)

"""The kernel of the event algebra: operators over instances, with state that timeframes and duplicates bound."""

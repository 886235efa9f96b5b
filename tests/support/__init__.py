"""What several test modules share: random patterns and events, real brokers, and rows that can be compared."""

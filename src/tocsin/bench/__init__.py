"""Benchmarks that anyone can repeat: the workloads, their events, our engines and the peers, measured side by side."""

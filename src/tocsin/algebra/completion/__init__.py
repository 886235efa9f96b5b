"""Expressions that succeed or fail on an event, and the machines they mean (ECL)."""

"""The kernel of the commonest profiles: two classes of events in sequence or conjunction, detected per terminator.

What is available of each class is a queue of single events, so nothing is composed, merged or collected.
"""

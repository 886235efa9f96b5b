"""Composite events as a service: register event types, publish events, subscribe to patterns (paper 003, Fig. 5)."""

from tocsin.service.request import SubscriptionOptions
from tocsin.service.service import Service, SubscriptionId
from tocsin.service.subscriber import Unused

__all__ = ["Service", "SubscriptionId", "SubscriptionOptions", "Unused"]

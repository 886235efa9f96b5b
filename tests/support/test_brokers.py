"""The brokers of the tests themselves."""

from __future__ import annotations

import pytest

from support.brokers import cannot_have


def test_a_missing_broker_skips_unless_brokers_are_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOCSIN_REQUIRE_BROKERS", raising=False)
    with pytest.raises(pytest.skip.Exception, match="there is no broker"):
        cannot_have("there is no broker")
    monkeypatch.setenv("TOCSIN_REQUIRE_BROKERS", "1")
    with pytest.raises(pytest.fail.Exception, match="TOCSIN_REQUIRE_BROKERS is set, but there is no broker"):
        cannot_have("there is no broker")

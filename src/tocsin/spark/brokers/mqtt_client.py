"""Client for MQTT brokers, protocol version 5; the only module that uses paho-mqtt.

We drive paho-mqtt's network loop ourselves, in one thread, with a new client object for every connection. So an
acknowledgement can only go to the connection its message came from; on another connection the same packet number may
stand for another message.
"""

from __future__ import annotations

import ssl
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tocsin.errors import SetupError
from tocsin.spark.brokers.message import (
    Access,
    Message,
    Outgoing,
    not_trusted,
    refused,
    tls_context,
    unreachable,
)
from tocsin.spark.brokers.spool import Spool

try:
    from paho.mqtt.client import Client, MQTTMessage, MQTTv5
    from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode
    from paho.mqtt.packettypes import PacketTypes
    from paho.mqtt.properties import Properties
    from paho.mqtt.subscribeoptions import SubscribeOptions
except ImportError as missing:
    raise SetupError(
        "missing-package",
        "MQTT needs the package paho-mqtt, which is not installed",
        hint="pip install 'tocsin[brokers]'",
    ) from missing

_OK = MQTTErrorCode.MQTT_ERR_SUCCESS
_LOOP_SECONDS = 0.1
_PAUSE_SECONDS = 0.2  # between attempts to connect
_KEEPALIVE_SECONDS = 30
_UNACKNOWLEDGED = 1_000  # messages that the broker may send ahead of our acknowledgements
_FOR_EVER = 0xFFFFFFFF  # seconds; the protocol's value for a session that never expires
_FIRST_FAILURE = 128  # reason codes from here on are failures


@dataclass(frozen=True, slots=True)
class MqttServer:
    """The address of a broker, the credentials, and how many seconds to wait for a broker that does not respond."""

    host: str
    port: int = 1883
    access: Access = Access()
    patience: float = 60.0

    @property
    def where(self) -> str:
        return f"{self.host}:{self.port}"


class _Connection:
    """One connection: the broker's responses, and the messages that are not yet acknowledged."""

    def __init__(self, server: MqttServer, client_id: str, *, lasting: bool) -> None:
        self.server = server
        self.arrived: list[MQTTMessage] = []
        self.refusal = ""
        self._connected = self._subscribed = False
        self.client = Client(
            CallbackAPIVersion.VERSION2, client_id=client_id, protocol=MQTTv5, manual_ack=lasting
        )
        self.client.on_connect = self._on_connect
        self.client.on_subscribe = self._on_subscribe
        self.client.on_message = self._on_message
        self.client.on_publish = self._on_publish
        access = server.access
        if access.user is not None:
            self.client.username_pw_set(access.user, access.password)
        if context := tls_context(access):
            self.client.tls_set_context(context)
        wishes = Properties(PacketTypes.CONNECT)
        if lasting:
            wishes.SessionExpiryInterval = _FOR_EVER
            wishes.ReceiveMaximum = _UNACKNOWLEDGED
        try:
            self.client.connect(
                server.host, server.port, _KEEPALIVE_SECONDS, clean_start=not lasting, properties=wishes
            )
        except ssl.SSLError as problem:
            raise not_trusted("MQTT", server.where, problem) from problem
        self._wait_for(lambda: self._connected)

    def subscribe(self, topics: Sequence[str]) -> None:
        """Subscribe to topics; a session that is already subscribed continues."""
        # 1: retained messages are sent for a new subscription only, not on every connection.
        wanted = SubscribeOptions(qos=1, retainHandling=1)
        self.client.subscribe([(topic, wanted) for topic in topics])
        self._wait_for(lambda: self._subscribed)

    def step(self) -> bool:
        """Run the network loop once, waiting briefly for data; return False if the connection is lost."""
        outcome = self.client.loop(_LOOP_SECONDS)
        while outcome == _OK and self.arrived and len(self.arrived) < _UNACKNOWLEDGED:
            before = len(self.arrived)
            outcome = self.client.loop_read()
            if len(self.arrived) == before:
                break
        if self.refusal:
            raise refused("MQTT", self.server.where, self.refusal)
        return outcome == _OK

    def _wait_for(self, condition: Any) -> None:
        deadline = time.monotonic() + _KEEPALIVE_SECONDS
        while not condition():
            if not self.step() or time.monotonic() > deadline:
                raise ConnectionResetError("the connection was lost")

    def _judge(self, code: Any) -> None:
        if code.value >= _FIRST_FAILURE:
            self.refusal = str(code)

    def _on_connect(self, client: Any, data: Any, flags: Any, code: Any, properties: Any) -> None:
        self._judge(code)
        self._connected = True

    def _on_subscribe(self, client: Any, data: Any, mid: Any, codes: Any, properties: Any) -> None:
        for code in codes:
            self._judge(code)
        self._subscribed = True

    def _on_publish(self, client: Any, data: Any, mid: Any, code: Any, properties: Any) -> None:
        self._judge(code)

    def _on_message(self, client: Any, data: Any, message: MQTTMessage) -> None:
        self.arrived.append(message)


class Receiver:
    """A thread that moves messages from the broker into the spool, and acknowledges them when they are on disk."""

    def __init__(self, server: MqttServer, topics: Sequence[str], client_id: str, spool: Spool, most: int):
        self._server, self._topics, self._client_id = server, topics, client_id
        self._spool, self._most = spool, most
        self._stopping = threading.Event()
        self._failure: Exception | None = None
        self.ready = threading.Event()  # set once the broker has confirmed the subscription
        self.heard = time.monotonic()  # when the last message or connection came
        self._thread = threading.Thread(target=self._run, name="tocsin-mqtt", daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Raise the error that ended the thread, if there is one."""
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        """End the thread; the broker keeps messages that arrive from now on."""
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            while not self._stopping.is_set():
                self._receive(self._connect())
        except Exception as problem:  # noqa: BLE001  (kept, because nobody catches errors of a thread)
            self._failure = problem

    def _connect(self) -> _Connection | None:
        deadline = time.monotonic() + self._server.patience
        while not self._stopping.is_set():
            try:
                connection = _Connection(self._server, self._client_id, lasting=True)
                connection.subscribe(self._topics)
            except OSError as problem:
                if time.monotonic() > deadline:
                    raise unreachable("MQTT", self._server.where, self._server.patience, problem) from problem
                self._stopping.wait(_PAUSE_SECONDS)
            else:
                self.heard = time.monotonic()
                self.ready.set()
                return connection
        return None

    def _receive(self, connection: _Connection | None) -> None:
        while connection is not None and not self._stopping.is_set():
            # Unstored messages of a lost connection are dropped: the broker sends them again.
            if not connection.step():
                return
            # While Spark is behind, messages stay here unacknowledged, and the broker stops sending.
            taken = connection.arrived[: max(0, self._most - self._spool.waiting)]
            if taken:
                self._spool.append([_message(message) for message in taken])
                self.heard = time.monotonic()
                for message in taken:
                    connection.client.ack(message.mid, message.qos)
                del connection.arrived[: len(taken)]
        if connection is not None:
            connection.client.disconnect()


def _message(message: MQTTMessage) -> Message:
    headers = dict(getattr(message.properties, "UserProperty", ()))
    return Message(bytes(message.payload), message.topic, 0, time.time_ns() // 1000, headers)


def publish(server: MqttServer, messages: Sequence[Outgoing], retain: bool) -> None:
    """Send messages and wait until the broker has acknowledged them all; if the connection breaks, send them again."""
    deadline = time.monotonic() + server.patience
    waiting = list(messages)
    while waiting:
        try:
            connection = _Connection(server, "", lasting=False)
            sent = deque((message, _send(connection.client, message, retain)) for message in waiting)
            alive = True
            while sent and alive:
                alive = connection.step()
                while sent and sent[0][1].is_published():
                    sent.popleft()
            waiting = [message for message, _ in sent]
            if not waiting:
                connection.client.disconnect()
        except OSError as problem:
            if time.monotonic() > deadline:
                raise unreachable("MQTT", server.where, server.patience, problem) from problem
            time.sleep(_PAUSE_SECONDS)


def _send(client: Client, message: Outgoing, retain: bool) -> Any:
    properties = Properties(PacketTypes.PUBLISH)
    pairs = list(message.headers.items()) + ([("id", message.id)] if message.id is not None else [])
    if pairs:
        properties.UserProperty = pairs
    return client.publish(message.topic, message.value, qos=1, retain=retain, properties=properties)

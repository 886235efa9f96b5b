"""Client for NATS servers with JetStream; the only module that uses nats-py.

A session opens one connection and keeps it; when it breaks, the current operation is retried on a new one until
`patience` runs out. So every operation here is safe to repeat: reading by sequence number always returns the same
messages, and a message that is published again has the same id.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from tocsin.errors import BrokerError, SetupError
from tocsin.spark.brokers.message import (
    Access,
    Message,
    Outgoing,
    not_trusted,
    refused,
    tls_context,
    unreachable,
)

try:
    import nats
    import nats.errors
    import nats.js.errors
    from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy, RetentionPolicy
except ImportError as missing:
    raise SetupError(
        "missing-package",
        "NATS needs the package nats-py, which is not installed",
        hint="pip install 'tocsin[brokers]'",
    ) from missing

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.aio.msg import Msg
    from nats.js import JetStreamContext

_FETCH = 1_000  # messages requested at a time
_ANSWER_SECONDS = 5.0
_PAUSE_SECONDS = 0.2  # between attempts to connect
_KEEP_CONSUMER_SECONDS = 60.0  # the server deletes a consumer that is idle for this long
_DENIED = ("authorization", "authentication", "permissions violation", "credentials")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NatsServer:
    """The address of NATS, the credentials, and how many seconds to wait for a server that does not respond."""

    servers: tuple[str, ...]
    access: Access = Access()
    patience: float = 60.0

    @property
    def where(self) -> str:
        return ", ".join(self.servers)


class StreamState(NamedTuple):
    """The first and last sequence numbers of a stream; `first` is `last + 1` if it is empty."""

    first: int
    last: int


class NatsSession:
    """A connection that is opened on first use, and reopened when it breaks."""

    def __init__(self, server: NatsServer) -> None:
        self.server = server
        self._loop = asyncio.new_event_loop()
        self._client: Client | None = None
        self._jetstream: tuple[Client, JetStreamContext] | None = None
        self._lost: asyncio.Future[None] | None = None  # done when the connection is gone
        self._refusal = ""
        self._tls = tls_context(server.access)

    def close(self) -> None:
        """Disconnect from the server."""
        self._drop()
        self._loop.close()

    def run(self, step: Callable[[Client], Coroutine[Any, Any, T]]) -> T:
        """Return the result of a step, which is retried from its start when the connection breaks."""
        return self._loop.run_until_complete(self._retry(step))

    def jetstream(self, client: Client) -> JetStreamContext:
        """Return the JetStream context of a connection, cached because each context subscribes to its own replies."""
        if self._jetstream is None or self._jetstream[0] is not client:
            self._jetstream = client, client.jetstream()
        return self._jetstream[1]

    async def _retry(self, step: Callable[[Client], Coroutine[Any, Any, T]]) -> T:
        deadline = time.monotonic() + self.server.patience
        while True:
            try:
                if self._client is None or not self._client.is_connected:
                    self._client = await self._connect()
                return await self._unless_lost(step(self._client))
            except ssl.SSLError as problem:
                raise not_trusted("NATS", self.server.where, problem) from problem
            except nats.js.errors.NotFoundError as problem:
                raise BrokerError(
                    "no-stream",
                    f"NATS at {self.server.where} has no such stream, or none for this subject",
                    hint="create the stream first; `nats stream ls` shows what is there",
                ) from problem
            except (OSError, nats.errors.Error, TimeoutError) as problem:
                if self._refusal or any(word in str(problem).lower() for word in _DENIED):
                    raise refused("NATS", self.server.where, self._refusal or problem) from problem
                await self._leave()
                if time.monotonic() >= deadline:
                    raise unreachable("NATS", self.server.where, self.server.patience, problem) from problem
                await asyncio.sleep(_PAUSE_SECONDS)

    async def _unless_lost(self, step: Coroutine[Any, Any, T]) -> T:
        """Return the result of a step, or fail at once if the connection is lost: nats-py would wait for a reply."""
        assert self._lost is not None
        task = asyncio.ensure_future(step)
        either: set[asyncio.Future[Any]] = {task, self._lost}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            task.cancel()
            await asyncio.wait({task})
            raise nats.errors.ConnectionClosedError
        return task.result()

    async def _connect(self) -> Client:
        access = self.server.access
        lost = self._lost = self._loop.create_future()

        async def complain(problem: Exception) -> None:
            # Some refusals are reported only here, while the request itself times out.
            if any(word in str(problem).lower() for word in _DENIED):
                self._refusal = str(problem)

        async def closed() -> None:
            if not lost.done():
                lost.set_result(None)

        return await nats.connect(
            list(self.server.servers),
            error_cb=complain,
            closed_cb=closed,
            # Automatic reconnection would hide that messages of a running fetch were lost.
            allow_reconnect=False,
            # Each server is tried once; `_retry` does the waiting.
            max_reconnect_attempts=1,
            reconnect_time_wait=0,
            connect_timeout=5,
            user=access.user,
            password=access.password,
            token=access.token,
            tls=self._tls,
            name="tocsin",
        )

    async def _leave(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _drop(self) -> None:
        self._loop.run_until_complete(self._leave())


def stream_state(session: NatsSession, stream: str) -> StreamState:
    """Return the state of a stream; raise an error for one that deletes messages as others read them."""

    async def ask(client: Client) -> StreamState:
        return await _state(client.jetstream(), stream)

    return session.run(ask)


async def _state(jetstream: JetStreamContext, stream: str) -> StreamState:
    info = await jetstream.stream_info(stream)
    if info.config.retention not in (None, RetentionPolicy.LIMITS):
        raise BrokerError(
            "stream-not-replayable",
            f"the stream {stream} keeps messages by {info.config.retention}: they are deleted when somebody has read them",
            hint="only a stream with the retention policy limits can be read again after a failure",
        )
    last = info.state.last_seq
    return StreamState(info.state.first_seq if info.state.messages else last + 1, last)


def stream_of(session: NatsSession, subject: str) -> str:
    """Return the stream that stores messages to a subject."""

    async def ask(client: Client) -> str:
        return str(await client.jetstream()._jsm.find_stream_name_by_subject(subject))

    return session.run(ask)


class _Pull:
    """A pull consumer that delivers messages from a sequence number on; it lives as long as one connection."""

    def __init__(self, subscription: JetStreamContext.PullSubscription, client: Client, pending: int) -> None:
        self.subscription = subscription
        self.client = client
        self.pending = pending  # messages not yet delivered
        self.given = 0

    async def fetch(self) -> Sequence[Msg]:
        """Return the next messages; raise a timeout if one that the server sent did not arrive."""
        messages = await self.subscription.fetch(max(1, min(_FETCH, self.pending)), timeout=_ANSWER_SECONDS)
        for message in messages:
            self.given += 1
            if message.metadata.sequence.consumer != self.given:
                raise nats.errors.TimeoutError
        self.pending = messages[-1].metadata.num_pending
        return messages


def read_range(
    session: NatsSession, stream: str, subject: str | None, after: int, last: int, skip_missing: bool
) -> Iterator[list[Message]]:
    """Yield the messages with sequence numbers from `after + 1` to `last` in lists, in order, each once."""
    pull: _Pull | None = None
    holes: list[int] = []  # the first number of each run of numbers that the stream did not deliver
    position = after
    while position < last:

        async def fetch(client: Client, position: int = position) -> Sequence[Msg]:
            nonlocal pull
            if pull is None or pull.client is not client:
                pull = None
                pull = await _open(client, stream, subject, position + 1)
            try:
                return await pull.fetch() if pull.pending else ()
            except (nats.errors.Error, TimeoutError):
                pull = None
                raise

        messages = session.run(fetch)
        if not messages:
            break
        batch = []
        for message in messages:
            sequence = message.metadata.sequence.stream
            if sequence > position + 1:
                holes.append(position + 1)
            position = sequence
            if sequence > last:
                break
            batch.append(_message(message, sequence))
        if batch:
            yield batch
        if pull is not None and not pull.pending:
            break
    if position < last:
        holes.append(position + 1)
    if not skip_missing and holes:
        # A hole is a message to another subject, or one that was deleted on purpose, unless the stream has meanwhile
        # dropped its oldest messages up to there.
        first = stream_state(session, stream).first
        if first > holes[0]:
            raise messages_gone(stream, holes[0], first)


async def _open(client: Client, stream: str, subject: str | None, start: int) -> _Pull:
    jetstream = client.jetstream()
    settings = ConsumerConfig(
        deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
        opt_start_seq=start,
        ack_policy=AckPolicy.NONE,
        filter_subject=subject,
        inactive_threshold=_KEEP_CONSUMER_SECONDS,
        mem_storage=True,
    )
    info = await jetstream._jsm.add_consumer(stream, config=settings)
    subscription = await jetstream.pull_subscribe_bind(consumer=info.name, stream=stream)
    return _Pull(subscription, client, info.num_pending or 0)


def _message(message: Msg, sequence: int) -> Message:
    stored = message.metadata.timestamp
    return Message(
        message.data, message.subject, sequence, int(stored.timestamp() * 1e6), dict(message.headers or {})
    )


def messages_gone(stream: str, wanted: int, first: int) -> BrokerError:
    """Return the error for messages that the stream dropped before we read them."""
    return BrokerError(
        "messages-gone",
        f"the stream {stream} no longer has the messages {wanted} to {first - 1}: it dropped them before they were read",
        hint="let the stream keep more (max_age, max_msgs, max_bytes), or go on without them with missing='skip'",
    )


def publish(session: NatsSession, messages: Sequence[Outgoing]) -> None:
    """Send messages and wait until the stream has stored them all."""

    async def send(client: Client) -> None:
        jetstream = session.jetstream(client)
        waiting = []
        for message in messages:
            headers = dict(message.headers)
            if message.id is not None:
                headers["Nats-Msg-Id"] = message.id
            waiting.append(
                await jetstream.publish_async(message.topic, message.value, headers=headers or None)
            )
        _, unanswered = await asyncio.wait(waiting, timeout=session.server.patience)
        if unanswered:
            raise nats.errors.TimeoutError
        for message, future in zip(messages, waiting, strict=True):
            answer = nats.errors.ConnectionClosedError() if future.cancelled() else future.exception()
            if isinstance(answer, nats.js.errors.NoStreamResponseError):
                # Raises "no such stream", unless the server had merely not finished starting.
                await jetstream._jsm.find_stream_name_by_subject(message.topic)
            if isinstance(answer, nats.js.errors.APIError):
                raise BrokerError(
                    "message-refused",
                    f"NATS at {session.server.where} did not store a message to {message.topic}: {answer.description}",
                    hint="the limits of the stream are reached, or it does not accept such a message",
                ) from answer
            if answer is not None:
                raise answer

    if not messages:
        return
    try:
        session.run(send)
    except nats.errors.MaxPayloadError as problem:
        largest = max(messages, key=lambda message: len(message.value))
        raise BrokerError(
            "message-too-large",
            f"a message to {largest.topic} has {len(largest.value):,} bytes, more than NATS at {session.server.where} takes",
            hint="max_payload of the server is the limit",
        ) from problem

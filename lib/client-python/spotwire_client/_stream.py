"""One connection for any number of subscriptions, which reconnects, resumes and reports gaps."""

from __future__ import annotations

import asyncio
import inspect
import logging
import re
import ssl
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Awaitable, Callable, Iterable, Literal, Mapping, TypedDict, Union, overload

from ._answers import as_spotwire_error, service_error
from ._clock import Clock, within
from ._connection import ABNORMAL_CLOSE, Connection, Ending, Handshake
from ._contract import CLOSES, STREAM_NAMES, STREAM_PROTOCOL, TICKET_PROTOCOL_PREFIX
from ._error import CallbackFailedError, CallTimeoutError, InvalidArgumentError, SpotwireError, StreamClosedError
from ._options import check_tickers
from ._reconnect import STEADY_AFTER_S, delay_before, final_error, is_terminal
from ._requests import Requests, Send
from ._sequence import Gap, Position, gap_of, judge
from ._subscription import AsyncSubscription
from ._topics import Selection, Topics, key_of
from .models import Heartbeat, KlineMessage, MarketStatus, QuoteMessage, SnapshotMessage, Timeframe, Welcome

#: ``idle``: nothing is followed. ``waiting``: for the next attempt. ``closed``: the stream has ended.
StreamState = Literal["idle", "connecting", "open", "waiting", "closed"]
PushMessage = Union[QuoteMessage, SnapshotMessage, KlineMessage]
#: Returns a ticket for one connection: a coroutine function, or a plain one, which runs in a thread.
TicketFunction = Callable[[], "str | Awaitable[str]"]

_log = logging.getLogger("spotwire_client")
#: Timeout of the user's ticket function.
_TICKET_TIMEOUT_S = 30.0
#: Characters of a subprotocol (RFC 9110, token).
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


@dataclass(frozen=True)
class StateChange:
    """A change of the stream's state."""

    state: StreamState
    #: While connecting: 1 for the first attempt since the last good connection.
    attempt: int | None = None
    #: While waiting: seconds until the next attempt.
    retry_in_s: float | None = None
    #: The error that caused the change, if any.
    error: SpotwireError | None = None


@dataclass(frozen=True)
class StreamClose:
    """The end of an open connection."""

    code: int
    reason: str
    #: ``retry``: the stream reconnects. ``terminal``: it does not.
    after: Literal["retry", "terminal"]
    #: Description of what happened.
    meaning: str


class StreamCallbacks(TypedDict, total=False):
    """Plain functions. An exception of one goes to ``on_error`` as ``callback_failed``."""

    on_open: Callable[[Welcome], object]
    """Called on connect and on each reconnect; the stream restores its subscriptions."""
    on_record: Callable[[PushMessage], object]
    """Every record of every subscription."""
    on_status: Callable[[MarketStatus], object]
    """The market status of a followed ticker changed."""
    on_heartbeat: Callable[[Heartbeat], object]
    """Lists followed tickers without new records, and why."""
    on_gap: Callable[[Gap], object]
    """Records are missing. Called before the record that revealed the gap."""
    on_error: Callable[[SpotwireError], object]
    """Called for every error, also those the stream recovers from; after a final one it is closed. Without it, errors are logged."""
    on_close: Callable[[StreamClose], object]
    """An open connection ended."""
    on_state_change: Callable[[StateChange], object]


@dataclass(frozen=True)
class StreamContext:
    """What a stream is made from."""

    #: URL of the WebSocket.
    url: str
    key: str | None
    #: The user's ticket function; takes precedence over the key.
    ticket: TicketFunction | None
    clock: Clock
    random: Callable[[], float]
    ssl_context: ssl.SSLContext | None


def check_callbacks(callbacks: Mapping[str, Any]) -> None:
    """Raises invalid_argument for a callback that does not exist, or cannot be called at once."""
    for name, callback in callbacks.items():
        if name not in StreamCallbacks.__optional_keys__:
            raise InvalidArgumentError(f"A stream has no option {name}. Its callbacks are {', '.join(sorted(StreamCallbacks.__optional_keys__))}.")
        _check_callback(name, callback)


def _check_callback(name: str, callback: Any) -> None:
    if callback is not None and (not callable(callback) or inspect.iscoroutinefunction(callback)):
        raise InvalidArgumentError(f"{name} must be a plain function; start a task in it to await something.")


async def _ask(ticket: TicketFunction) -> str:
    """A plain function may block: it runs in a thread, so that other streams and calls go on."""
    function: Callable[[], Any] = ticket
    asked = function() if inspect.iscoroutinefunction(ticket) else await asyncio.to_thread(function)
    text: str = await asked if inspect.isawaitable(asked) else asked
    return text


async def _handshake(context: StreamContext) -> Handshake:
    """The key in the Authorization header, or a fresh ticket as a subprotocol. A ticket opens one connection."""
    if context.ticket is None:
        return Handshake([STREAM_PROTOCOL], {"Authorization": f"Bearer {context.key}"})

    def late() -> SpotwireError:
        return CallTimeoutError(f"The ticket function returned no ticket within {_TICKET_TIMEOUT_S:g} s.")

    text = await within(context.clock, _TICKET_TIMEOUT_S, _ask(context.ticket), late)
    if not isinstance(text, str) or not _TOKEN.fullmatch(text):
        raise InvalidArgumentError("The ticket function must return the text of a ticket.")
    return Handshake([STREAM_PROTOCOL, TICKET_PROTOCOL_PREFIX + text], {})


def _close_of(ending: Ending) -> StreamClose:
    known = CLOSES.get(ending.code)
    broke = "The connection broke." if ending.code == ABNORMAL_CLOSE else f"Closed with {ending.code}."
    meaning = known.meaning if known else ending.error.detail if ending.error else broke
    return StreamClose(ending.code, ending.reason, "terminal" if is_terminal(ending.code) else "retry", meaning)


def _error_of(message: Any) -> SpotwireError:
    data = message["data"]
    return service_error(
        message["message"],
        data["detail"],
        code=message["code"],
        status=message["code"] // 100,
        request_id=data.get("request_id"),
        retry_after=data.get("retry_after"),
        data=data,
    )


class AsyncStream:
    """It connects with the first subscription and stays connected until ``close()``. Make it with ``client.stream()``."""

    def __init__(self, context: StreamContext, callbacks: StreamCallbacks, buffer_max_records: int) -> None:
        self._context = context
        self._callbacks = callbacks
        self.buffer_max_records = buffer_max_records
        self.taken = callbacks.get("on_record") is not None
        self._topics = Topics()
        self._requests = Requests(self._topics, context.clock)
        self._subscriptions: dict[AsyncSubscription[Any], None] = {}
        self._state: StreamState = "idle"
        self._connection_id: str | None = None
        self._running: asyncio.Task[None] | None = None
        self._final: SpotwireError | None = None
        self._over = asyncio.Event()
        # Of the current connection, as its messages say.
        self._farewell: SpotwireError | None = None
        self._reconnect_within_s: float | None = None

    @property
    def state(self) -> StreamState:
        return self._state

    @property
    def connection_id(self) -> str | None:
        """Include this id when you report a problem; None before the first connection."""
        return self._connection_id

    # fmt: off
    @overload
    def subscribe(self, stream: Literal["quote"], tickers: Iterable[str], *, snapshot: bool = True, on_record: Callable[[QuoteMessage], object] | None = None) -> AsyncSubscription[QuoteMessage]: ...
    @overload
    def subscribe(self, stream: Literal["snapshot"], tickers: Iterable[str], *, snapshot: bool = True, on_record: Callable[[SnapshotMessage], object] | None = None) -> AsyncSubscription[SnapshotMessage]: ...
    @overload
    def subscribe(self, stream: Literal["kline"], tickers: Iterable[str], *, timeframe: Timeframe, snapshot: bool = True, on_record: Callable[[KlineMessage], object] | None = None) -> AsyncSubscription[KlineMessage]: ...
    # fmt: on

    def subscribe(
        self,
        stream: str,
        tickers: Iterable[str],
        *,
        timeframe: str | None = None,
        snapshot: bool = True,
        on_record: Callable[[Any], object] | None = None,
    ) -> AsyncSubscription[Any]:
        """
        Follows tickers, any number of them. ``snapshot`` says whether to receive the current record first; ``timeframe`` is
        required for kline, and invalid for other streams. Calls ``on_record`` with each record. Without it, and without the
        stream's ``on_record``, records are buffered for a loop. Raises invalid_argument, or stream_closed.
        """
        if self._over.is_set():
            raise StreamClosedError("The stream is closed; create another one.")
        if stream not in STREAM_NAMES:
            raise InvalidArgumentError(f"stream must be one of {', '.join(STREAM_NAMES)}, not {stream}.")
        if (stream == "kline") != (timeframe is not None):
            raise InvalidArgumentError("timeframe is required for kline and invalid for other streams.")
        _check_callback("on_record", on_record)
        selection = Selection(stream, check_tickers(tickers), timeframe, snapshot)
        subscription: AsyncSubscription[Any] = AsyncSubscription(selection, self, on_record)
        self._topics.follow(selection, subscription)
        self._subscriptions[subscription] = None
        self._requests.flush()
        if self._running is None:
            self._running = asyncio.get_running_loop().create_task(self._run())
        return subscription

    def close(self) -> None:
        """Closes the connection and ends every subscription; ``wait_closed()`` waits for it."""
        self._finish(None)

    async def wait_closed(self) -> None:
        """Returns when the stream has ended by ``close()``. Raises the error that ended it otherwise."""
        await self._over.wait()
        if self._running is not None and self._running is not asyncio.current_task():
            await asyncio.gather(self._running, return_exceptions=True)
        if self._final is not None:
            raise self._final

    async def __aenter__(self) -> "AsyncStream":
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
        if self._running is not None:
            await asyncio.gather(self._running, return_exceptions=True)

    # What follows is called by subscriptions.

    def report(self, error: SpotwireError) -> None:
        """Passes an error to ``on_error``; nothing is lost without one."""
        on_error = self._callbacks.get("on_error")
        if on_error is None:
            _log.warning("%s", error)
            return
        try:
            on_error(error)
        except Exception:
            _log.exception("on_error raised")

    def invoke(self, callback: Callable[..., object] | None, *values: Any) -> None:
        """Runs a callback of the user: its exceptions must not break the stream, and must not be lost either."""
        if callback is None:
            return
        try:
            callback(*values)
        except Exception as raised:
            error = CallbackFailedError(f"A callback raised {type(raised).__name__}; see `__cause__`.")
            error.__cause__ = raised
            self.report(error)

    def leave(self, follower: AsyncSubscription[Any]) -> None:
        """Forgets a subscription."""
        self._subscriptions.pop(follower, None)
        self._topics.unfollow(follower)
        self._requests.flush()

    # One task runs the connections.

    async def _run(self) -> None:
        failures = 0
        try:
            while self._topics.wanted and not self._over.is_set():
                self._change(StateChange("connecting", attempt=failures + 1))
                ending = await self._connect()
                if (ending.lived_s or 0) >= STEADY_AFTER_S:
                    failures = 0
                if ending.lived_s is not None:
                    self.invoke(self._callbacks.get("on_close"), _close_of(ending))
                final = final_error(ending)
                if final is not None:
                    self._finish(final)
                    return
                if ending.error is not None:
                    self.report(ending.error)
                if not self._topics.wanted:
                    break
                delay = delay_before(ending, failures, self._context.random)
                self._change(StateChange("waiting", retry_in_s=delay, error=ending.error))
                failures += 1
                await self._context.clock.wait(delay)
        except Exception as raised:
            # Nobody awaits this task: what it does not expect must reach the loops too.
            self._finish(as_spotwire_error(raised, "The stream failed"))
        finally:
            if not self._over.is_set():
                self._running = None
        self._change(StateChange("idle"))

    async def _connect(self) -> Ending:
        """Runs one connection, from its credentials to its end; never raises."""
        self._farewell = self._reconnect_within_s = None
        try:
            connection = Connection(
                url=self._context.url,
                clock=self._context.clock,
                ssl_context=self._context.ssl_context,
                on_welcome=self._welcomed,
                on_message=self._on_message,
                on_unreadable=self.report,
            )
            ending = await connection.run(await _handshake(self._context))
        except Exception as raised:
            return Ending(ABNORMAL_CLOSE, "", as_spotwire_error(raised, "The stream could not be opened"))
        finally:
            self._requests.close()
        return replace(ending, error=ending.error or self._farewell, reconnect_within_s=self._reconnect_within_s)

    def _welcomed(self, welcome: Any, send: Send) -> bool:
        # Everything was unsubscribed while connecting; the server would close a connection without subscriptions as abuse.
        if not self._topics.wanted:
            return False
        self._connection_id = welcome["connection_id"]
        self._change(StateChange("open"))
        self.invoke(self._callbacks.get("on_open"), welcome)
        self._requests.open(welcome["limits"], send)
        return True

    def _on_message(self, message: Any) -> None:
        kind = message["type"]
        if kind in STREAM_NAMES:
            self._on_record(message)
        elif kind == "ack":
            self._requests.on_ack(message)
        elif kind == "market_status":
            self.invoke(self._callbacks.get("on_status"), message["data"])
        elif kind == "heartbeat":
            self.invoke(self._callbacks.get("on_heartbeat"), message)
        elif kind == "server_shutdown":
            self._reconnect_within_s = message["reconnect_after_ms"] / 1000
        elif kind == "error":
            # The reason for the close that follows is reported when the connection ends.
            if message["data"].get("close_code") is not None:
                self._farewell = _error_of(message)
            elif not self._requests.on_error(message):
                self.report(_error_of(message))

    def _on_record(self, message: Any) -> None:
        if not isinstance(message.get("epoch"), str) or not isinstance(message.get("seq"), int):
            raise TypeError("A record has no epoch or sequence.")
        topic = self._topics.find(key_of(message))
        if topic is None or not topic.live:
            return
        last = topic.last
        verdict = judge(last, message)
        if verdict == "stale":
            return
        topic.last = Position(message["epoch"], message["seq"])
        if verdict == "gap" and last is not None:
            self.invoke(self._callbacks.get("on_gap"), gap_of(last, message))
        for follower in list(topic.followers):
            follower.on_record(message)
        self.invoke(self._callbacks.get("on_record"), message)

    def _change(self, change: StateChange) -> None:
        # A callback may close the stream while it handles another event.
        if self._state != "closed" and not (change.state == self._state == "idle"):
            self._state = change.state
            self.invoke(self._callbacks.get("on_state_change"), change)

    def _finish(self, error: SpotwireError | None) -> None:
        if self._over.is_set():
            return
        self._over.set()
        self._final = error
        self._requests.close()
        raised_in_loop = [subscription.end(error) for subscription in self._subscriptions]
        self._subscriptions.clear()
        if error is not None and (self._callbacks.get("on_error") is not None or True not in raised_in_loop):
            self.report(error)
        self._change(StateChange("closed", error=error))
        if self._running is not None:
            # Also from one of its own callbacks: it ends where it would wait next.
            self._running.cancel()

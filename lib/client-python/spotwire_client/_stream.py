"""One connection for any number of subscriptions, which reconnects, resumes and reports gaps."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import Any, Callable, Iterable, Literal, Self, overload

from ._answers import as_spotwire_error, service_error
from ._callbacks import StateChange, StreamCallbacks, StreamClose, StreamState, check_callback
from ._connection import ABNORMAL_CLOSE, Connection, Ending
from ._contract import CLOSES, STREAM_NAMES
from ._error import CallbackFailedError, InvalidArgumentError, SpotwireError, StreamClosedError
from ._handshake import StreamContext, prepare_handshake
from ._options import check_tickers
from ._reconnect import delay_before, final_error, is_terminal
from ._recovery import ReadKlines, Recovery, StreamedKline, hold
from ._requests import Requests, Send
from ._sequence import Position, gap_of, judge
from ._subscription import AsyncSubscription
from ._topics import KlineProgress, Selection, Topic, Topics, is_state, key_of
from .models import QuoteMessage, SnapshotMessage, Timeframe

_log = logging.getLogger("spotwire_client")


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

    def __init__(self, context: StreamContext, callbacks: StreamCallbacks, buffer_max_records: int, recover: bool) -> None:
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
        read = context.read_klines if recover else None
        self._recovery = None if read is None else self._recovery_with(read)
        self._recovering: set[asyncio.Task[None]] = set()
        self._final: SpotwireError | None = None
        self._over = asyncio.Event()
        # Of the current connection, as its messages say.
        self._farewell: SpotwireError | None = None
        self._reconnect_within_s: float | None = None
        #: It brought a record, so it counts as good: the next failure starts with the shortest wait again.
        self._had_record = False

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
    def subscribe(self, stream: Literal["kline"], tickers: Iterable[str], *, timeframe: Timeframe, snapshot: bool = True, on_record: Callable[[StreamedKline], object] | None = None) -> AsyncSubscription[StreamedKline]: ...
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
        check_callback("on_record", on_record)
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
        await self._settle()
        if self._final is not None:
            raise self._final

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()
        await self._settle()

    async def _settle(self) -> None:
        """Waits for the tasks of a closed stream."""
        tasks = self._recovering if self._running is None else {*self._recovering, self._running}
        await asyncio.gather(*(task for task in tasks if task is not asyncio.current_task()), return_exceptions=True)

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
                if self._had_record:
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
        self._had_record = False
        try:
            connection = Connection(
                url=self._context.url,
                clock=self._context.clock,
                ssl_context=self._context.ssl_context,
                on_welcome=self._welcomed,
                on_message=self._on_message,
                on_unreadable=self.report,
            )
            ending = await connection.run(await prepare_handshake(self._context))
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
        self._had_record = True
        if topic.progress.held is not None:
            hold(topic.progress.held, message)
            return
        last = topic.last
        verdict = judge(last, message)
        if verdict == "stale":
            return
        topic.last = Position(message["epoch"], message["seq"])
        progress = topic.progress
        if last is not None and (verdict == "gap" or last.epoch != message["epoch"]):
            progress.doubtful = True
        missed = is_state(message) and progress.misses(message)
        if message["type"] == "kline" and self._recovery is not None:
            # A jump that left no closed kline out is no gap here: its states were replaced by newer ones.
            if missed:
                self._recover(self._recovery, topic, message)
                return
        elif missed or verdict == "gap":
            progress.doubtful = False
            self.invoke(self._callbacks.get("on_gap"), gap_of(last, message))
        self._deliver(topic, message)

    def _deliver(self, topic: Topic, message: Any) -> None:
        if is_state(message):
            topic.progress.note(message)
        for follower in list(topic.followers):
            follower.on_record(message)
        self.invoke(self._callbacks.get("on_record"), message)

    def _recovery_with(self, read: ReadKlines) -> Recovery:
        def follows(topic: Topic, progress: KlineProgress) -> bool:
            return not self._over.is_set() and topic.progress is progress and bool(topic.followers)

        def failed(_topic: Topic, first: Any, error: SpotwireError) -> None:
            self.report(error)
            self.invoke(self._callbacks.get("on_gap"), gap_of(None, first))

        return Recovery(read, self._context.clock, follows, self._deliver, failed, self._on_record)

    def _recover(self, recovery: Recovery, topic: Topic, first: Any) -> None:
        # At once, so that what comes before the task starts waits too.
        topic.progress.held = [first]
        task = asyncio.get_running_loop().create_task(recovery.run(topic, first))
        self._recovering.add(task)
        task.add_done_callback(self._recovering.discard)

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
        for task in self._recovering:
            task.cancel()
        if self._running is not None:
            # Also from one of its own callbacks: it ends where it would wait next.
            self._running.cancel()

"""The blocking client: the asynchronous one, run by a thread of its own, so that it also works where a loop runs already."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator
from typing import Any, Concatenate, Generic, Literal, ParamSpec, Self, TypeVar, Unpack, overload

from ._callbacks import StreamCallbacks, StreamState
from ._client import BUFFER_DEFAULT_RECORDS, AsyncSpotwire, Rows
from ._error import InvalidArgumentError, StreamClosedError
from ._gate import RateLimit
from ._recovery import StreamedKline
from ._stream import AsyncStream
from ._subscription import AsyncSubscription
from .models import QuoteMessage, SnapshotMessage, Timeframe

T = TypeVar("T")
Inner = TypeVar("Inner")
P = ParamSpec("P")
Record = TypeVar("Record")


class _Portal:
    """An event loop in a daemon thread, which ends with the program."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="spotwire-client", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine. An interruption, such as Ctrl-C, cancels it."""
        if threading.current_thread() is self._thread:
            work.close()
            raise InvalidArgumentError(
                "A callback of a stream cannot call this client: nothing could answer it meanwhile. Hand the work to your own thread."
            )
        if not self._thread.is_alive():
            work.close()
            raise StreamClosedError("The client is closed; create another one.")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def call(self, function: Callable[[], T]) -> T:
        """The result of a function that runs in the loop's thread; at once when this is it."""
        if threading.current_thread() is self._thread:
            return function()

        async def work() -> T:
            return function()

        return self.run(work())

    def next(self, items: AsyncIterator[T]) -> T | None:
        """The next item; None at the end."""

        async def work() -> T | None:
            return await anext(items, None)

        return self.run(work())

    def close(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()


class _Blocking(Generic[Inner]):
    """The blocking form of an object, which lives in the loop of a portal."""

    def __init__(self, inner: Inner, portal: _Portal) -> None:
        self._inner = inner
        self._portal = portal

    def __enter__(self) -> Self:
        return self


def _blocking(
    method: Callable[Concatenate[Inner, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[_Blocking[Inner], P], T]:
    """The blocking form of a coroutine method, with its parameters, their types and its docstring."""

    @functools.wraps(method)
    def run(self: _Blocking[Inner], /, *args: P.args, **options: P.kwargs) -> T:
        return self._portal.run(method(self._inner, *args, **options))

    return run


def _blocking_rows(
    method: Callable[Concatenate[Inner, P], Rows[T]],
) -> Callable[Concatenate[_Blocking[Inner], P], Iterator[T]]:
    """The same of a method that returns rows. A turn of the thread for each page is much faster than one for each row."""

    @functools.wraps(method)
    def run(self: _Blocking[Inner], /, *args: P.args, **options: P.kwargs) -> Iterator[T]:
        pages = method(self._inner, *args, **options).pages
        while (page := self._portal.next(pages)) is not None:
            yield from page

    return run


class Subscription(_Blocking[AsyncSubscription[Record]], Generic[Record]):
    """Followed tickers; loop over it with ``for``. Leaving the loop does not unsubscribe: use ``with``, or call ``unsubscribe()``."""

    def __init__(self, inner: AsyncSubscription[Record], portal: _Portal) -> None:
        super().__init__(inner, portal)
        self.stream = inner.stream
        self.tickers = inner.tickers

    @property
    def dropped(self) -> int:
        """Records dropped because the loop fell behind; ``on_error`` receives ``buffer_overflow`` for the first one."""
        return self._inner.dropped

    ready = _blocking(AsyncSubscription.ready)

    def unsubscribe(self) -> None:
        """Ends the subscription and its loop."""
        self._portal.call(self._inner.unsubscribe)

    def __iter__(self) -> Iterator[Record]:
        return self

    def __next__(self) -> Record:
        record = self._portal.next(self._inner)
        if record is None:
            raise StopIteration
        return record

    def __exit__(self, *_: object) -> None:
        self.unsubscribe()


class Stream(_Blocking[AsyncStream]):
    """A stream for loops that block. Its callbacks run in the thread of the client."""

    @property
    def state(self) -> StreamState:
        return self._inner.state

    @property
    def connection_id(self) -> str | None:
        """Include this id when you report a problem; None before the first connection."""
        return self._inner.connection_id

    # fmt: off
    @overload
    def subscribe(self, stream: Literal["quote"], tickers: Iterable[str], *, snapshot: bool = True, on_record: Callable[[QuoteMessage], object] | None = None) -> Subscription[QuoteMessage]: ...
    @overload
    def subscribe(self, stream: Literal["snapshot"], tickers: Iterable[str], *, snapshot: bool = True, on_record: Callable[[SnapshotMessage], object] | None = None) -> Subscription[SnapshotMessage]: ...
    @overload
    def subscribe(self, stream: Literal["kline"], tickers: Iterable[str], *, timeframe: Timeframe, snapshot: bool = True, on_record: Callable[[StreamedKline], object] | None = None) -> Subscription[StreamedKline]: ...
    # fmt: on

    def subscribe(self, stream: Any, tickers: Iterable[str], **options: Any) -> Subscription[Any]:
        """Follows tickers, as ``AsyncStream.subscribe`` does."""
        inner: AsyncSubscription[Any] = self._portal.call(lambda: self._inner.subscribe(stream, tickers, **options))
        return Subscription(inner, self._portal)

    def close(self) -> None:
        """Closes the connection and ends every subscription."""
        self._portal.call(self._inner.close)

    wait_closed = _blocking(AsyncStream.wait_closed)

    def __exit__(self, *_: object) -> None:
        self.close()


class Spotwire(_Blocking[AsyncSpotwire]):
    """
    Client of a market data service whose calls block. It takes the options of AsyncSpotwire, sends nothing before the first
    call, and can be used by several threads. Every failure is a SpotwireError.
    """

    def __init__(self, base_url: str, key: str | None = None, **options: Any) -> None:
        super().__init__(AsyncSpotwire(base_url, key, **options), _Portal())

    def __repr__(self) -> str:
        return repr(self._inner).replace("Async", "", 1)

    @property
    def rate_limit(self) -> RateLimit | None:
        """The remaining quota from the last response; None before the first."""
        return self._inner.rate_limit

    klines = _blocking(AsyncSpotwire.klines)
    iter_klines = _blocking_rows(AsyncSpotwire.iter_klines)
    klines_frame = _blocking(AsyncSpotwire.klines_frame)
    ticks = _blocking(AsyncSpotwire.ticks)
    iter_ticks = _blocking_rows(AsyncSpotwire.iter_ticks)
    ticks_frame = _blocking(AsyncSpotwire.ticks_frame)
    files = _blocking(AsyncSpotwire.files)
    file = _blocking(AsyncSpotwire.file)
    instruments = _blocking(AsyncSpotwire.instruments)
    latest_quotes = _blocking(AsyncSpotwire.latest_quotes)
    latest_snapshots = _blocking(AsyncSpotwire.latest_snapshots)
    conversion = _blocking(AsyncSpotwire.conversion)
    market_status = _blocking(AsyncSpotwire.market_status)
    market_hours = _blocking(AsyncSpotwire.market_hours)
    market_summary = _blocking(AsyncSpotwire.market_summary)
    create_stream_ticket = _blocking(AsyncSpotwire.create_stream_ticket)
    key = _blocking(AsyncSpotwire.key)

    def stream(
        self, *, buffer_max_records: int = BUFFER_DEFAULT_RECORDS, recover: bool = True, **callbacks: Unpack[StreamCallbacks]
    ) -> Stream:
        """Makes a stream, as ``AsyncSpotwire.stream`` does. Its callbacks run in the thread of the client."""

        def make() -> AsyncStream:
            return self._inner.stream(buffer_max_records=buffer_max_records, recover=recover, **callbacks)

        return Stream(self._portal.call(make), self._portal)

    def close(self) -> None:
        """Closes the streams and connections of this client, and ends its thread."""
        try:
            self._portal.run(self._inner.aclose())
        except StreamClosedError:
            return
        self._portal.close()

    def __exit__(self, *_: object) -> None:
        self.close()

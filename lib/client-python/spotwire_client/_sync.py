"""The blocking client: the asynchronous one, run by a thread of its own, so that it also works where a loop runs already."""

from __future__ import annotations

import asyncio
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Coroutine, Generic, Iterable, Iterator, Literal, TypeVar, Unpack, overload

from ._callbacks import StreamCallbacks, StreamState
from ._client import _BUFFER_DEFAULT_RECORDS, AsyncSpotwire
from ._contract import KLINES_ROWS_PER_COST_UNIT, TICKS_MAX_LIMIT_ROWS
from ._error import InvalidArgumentError, StreamClosedError
from ._gate import RateLimit
from ._options import Instant
from ._recovery import StreamedKline
from ._stream import AsyncStream
from ._subscription import AsyncSubscription, SubscribeResult
from .models import (
    ConversionData,
    DataFileList,
    FileType,
    InstrumentsData,
    KeyInfo,
    Kline,
    KlineWindow,
    LatestQuotesData,
    LatestSnapshotsData,
    MarketStatusData,
    PriceSide,
    Quote,
    QuoteMessage,
    SnapshotMessage,
    StreamTicket,
    TickWindow,
    Timeframe,
    TradingHours,
)

if TYPE_CHECKING:
    import pandas

T = TypeVar("T")
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

    def close(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()


class Subscription(Generic[Record]):
    """Followed tickers; loop over it with ``for``. Leaving the loop does not unsubscribe: use ``with``, or call ``unsubscribe()``."""

    def __init__(self, portal: _Portal, inner: AsyncSubscription[Record]) -> None:
        self._portal = portal
        self._inner = inner
        self.stream = inner.stream
        self.tickers = inner.tickers

    @property
    def dropped(self) -> int:
        """Records dropped because the loop fell behind."""
        return self._inner.dropped

    def ready(self) -> SubscribeResult:
        """Waits until the service has answered for every ticker. Raises SpotwireError when it accepted none of them."""
        return self._portal.run(self._inner.ready())

    def unsubscribe(self) -> None:
        """Ends the subscription and its loop."""
        self._portal.call(self._inner.unsubscribe)

    def __iter__(self) -> Iterator[Record]:
        return self

    def __next__(self) -> Record:
        async def following() -> tuple[Record] | None:
            try:
                return (await self._inner.__anext__(),)
            except StopAsyncIteration:
                return None

        found = self._portal.run(following())
        if found is None:
            raise StopIteration
        return found[0]

    def __enter__(self) -> "Subscription[Record]":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.unsubscribe()


class Stream:
    """A stream for loops that block. Its callbacks run in the thread of the client."""

    def __init__(self, portal: _Portal, inner: AsyncStream) -> None:
        self._portal = portal
        self._inner = inner

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
        return Subscription(self._portal, inner)

    def close(self) -> None:
        """Closes the connection and ends every subscription."""
        self._portal.call(self._inner.close)

    def wait_closed(self) -> None:
        """Waits until the stream has ended by ``close()``. Raises the error that ended it otherwise."""
        self._portal.run(self._inner.wait_closed())

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class Spotwire:
    """
    Client of a market data service whose calls block. It takes the options of AsyncSpotwire, sends nothing before the first
    call, and can be used by several threads. Every failure is a SpotwireError.
    """

    def __init__(self, base_url: str, key: str | None = None, **options: Any) -> None:
        self._inner = AsyncSpotwire(base_url, key, **options)
        self._portal = _Portal()

    @property
    def rate_limit(self) -> RateLimit | None:
        """The remaining quota from the last response; None before the first."""
        return self._inner.rate_limit

    def klines(
        self,
        ticker: str,
        timeframe: Timeframe,
        from_: Instant | None = None,
        to: Instant | None = None,
        limit: int | None = None,
        *,
        price: PriceSide | None = None,
        as_of: Instant | None = None,
        timeout_s: float | None = None,
    ) -> KlineWindow:
        """
        A window of klines, half-open on open time: from_ <= time < to. 1 to 5000 rows, 500 by default. ``price`` is bid, ask or mid. With ``as_of`` the klines as they
        would have been answered at that instant, of which a fraction of a second is dropped.
        """
        return self._portal.run(self._inner.klines(ticker, timeframe, from_, to, limit, price=price, as_of=as_of, timeout_s=timeout_s))

    def iter_klines(
        self,
        ticker: str,
        timeframe: Timeframe,
        from_: Instant,
        to: Instant | None = None,
        limit: int = KLINES_ROWS_PER_COST_UNIT,
        *,
        price: PriceSide | None = None,
        as_of: Instant | None = None,
        timeout_s: float | None = None,
    ) -> Iterator[Kline]:
        """All klines of a window from its start, in pages of ``limit`` rows; the last one may still be open."""
        pages = self._inner._pages(ticker, timeframe, from_, to, limit, price, as_of, timeout_s)

        async def following() -> list[Kline] | None:
            return await anext(pages, None)

        while (page := self._portal.run(following())) is not None:
            yield from page

    def klines_frame(
        self,
        ticker: str,
        timeframe: Timeframe,
        from_: Instant | None = None,
        to: Instant | None = None,
        limit: int | None = None,
        *,
        price: PriceSide | None = None,
        as_of: Instant | None = None,
        timeout_s: float | None = None,
    ) -> "pandas.DataFrame":
        """
        Klines as a DataFrame of pandas, indexed by open time in UTC. With ``from_`` it has the whole window, read in pages of
        ``limit`` rows; without, the newest ``limit`` rows.

        M1 klines of a week or more are read from the files of complete months, which takes a request for each month, and the rest of
        the window in pages: unless ``limit``, ``as_of`` or another price than the bid is given. Files are read as Parquet where pyarrow or polars is installed, and
        as CSV elsewhere. The rows are the same either way.
        """
        frame = self._inner.klines_frame(ticker, timeframe, from_, to, limit, price=price, as_of=as_of, timeout_s=timeout_s)
        return self._portal.run(frame)

    def ticks(
        self,
        ticker: str,
        from_: Instant | None = None,
        to: Instant | None = None,
        limit: int | None = None,
        *,
        cursor: str | None = None,
        timeout_s: float | None = None,
    ) -> TickWindow:
        """
        A window of ticks: from_ <= time < to. 1 to 10,000 rows, 1,000 by default. Without ``from_`` the newest ones. ``cursor`` is the
        ``next_cursor`` of the page before, and takes the place of ``from_``.
        """
        return self._portal.run(self._inner.ticks(ticker, from_, to, limit, cursor=cursor, timeout_s=timeout_s))

    def iter_ticks(
        self,
        ticker: str,
        from_: Instant,
        to: Instant | None = None,
        limit: int = TICKS_MAX_LIMIT_ROWS,
        *,
        timeout_s: float | None = None,
    ) -> Iterator[Quote]:
        """All ticks of a window from its start, in pages of ``limit`` rows."""
        pages = self._inner._tick_pages(ticker, from_, to, limit, timeout_s)

        async def following() -> list[Quote] | None:
            return await anext(pages, None)

        while (page := self._portal.run(following())) is not None:
            yield from page

    def ticks_frame(
        self,
        ticker: str,
        from_: Instant | None = None,
        to: Instant | None = None,
        limit: int | None = None,
        *,
        timeout_s: float | None = None,
    ) -> "pandas.DataFrame":
        """
        Ticks as a DataFrame of pandas, indexed by time in UTC, with the columns bid, ask, mid and spread. With ``from_`` it has the whole
        window, read in pages of ``limit`` rows; without, the newest ``limit`` rows.

        Ticks of a day or more are read from the files of complete days, which takes a request for each day, and the rest of the window
        in pages: unless ``limit`` is given. Files are read as Parquet where pyarrow or polars is installed, and as CSV elsewhere. The
        rows are the same either way.
        """
        return self._portal.run(self._inner.ticks_frame(ticker, from_, to, limit, timeout_s=timeout_s))

    def files(
        self,
        ticker: str,
        type: FileType = "klines",
        from_: Instant | None = None,
        to: Instant | None = None,
        *,
        timeout_s: float | None = None,
    ) -> DataFileList:
        """
        The files of a ticker whose period touches a range, for bulk downloads. If ``next_from`` of the answer is not None, ask again
        from there.
        """
        return self._portal.run(self._inner.files(ticker, type, from_, to, timeout_s=timeout_s))

    def file(
        self, id: str, format: Literal["parquet", "csv"] | None = None, *, timeout_s: float | None = None
    ) -> bytes:
        """Downloads a file of the list, as Parquet unless said otherwise. The timeout of an attempt includes the whole file."""
        return self._portal.run(self._inner.file(id, format, timeout_s=timeout_s))

    def instruments(self, *, timeout_s: float | None = None) -> InstrumentsData:
        """The instruments this key may read."""
        return self._portal.run(self._inner.instruments(timeout_s=timeout_s))

    def latest_quotes(self, tickers: Iterable[str], *, timeout_s: float | None = None) -> LatestQuotesData:
        """Quotes, in the order of the request."""
        return self._portal.run(self._inner.latest_quotes(tickers, timeout_s=timeout_s))

    def latest_snapshots(self, tickers: Iterable[str], *, timeout_s: float | None = None) -> LatestSnapshotsData:
        """Snapshots, in the order of the request."""
        return self._portal.run(self._inner.latest_snapshots(tickers, timeout_s=timeout_s))

    def conversion(
        self, from_: str, to: Iterable[str], amount: float | None = None, *, timeout_s: float | None = None
    ) -> ConversionData:
        """What an amount, 1 by default, is worth in other currencies, at the latest quotes."""
        return self._portal.run(self._inner.conversion(from_, to, amount, timeout_s=timeout_s))

    def market_status(
        self, tickers: Iterable[str], at: Instant | None = None, *, timeout_s: float | None = None
    ) -> MarketStatusData:
        """Market status and its reason, now or at another time."""
        return self._portal.run(self._inner.market_status(tickers, at, timeout_s=timeout_s))

    def market_hours(
        self, ticker: str, from_: Instant | None = None, to: Instant | None = None, *, timeout_s: float | None = None
    ) -> TradingHours:
        """
        The times in a range at which the market of a ticker is open, past or future: from now on, and 14 days, unless given. The ``to``
        of the answer says where it ends.
        """
        return self._portal.run(self._inner.market_hours(ticker, from_, to, timeout_s=timeout_s))

    def create_stream_ticket(self, origin: str | None = None, *, timeout_s: float | None = None) -> StreamTicket:
        """A ticket for one stream connection. A server passes the page's ``origin``."""
        return self._portal.run(self._inner.create_stream_ticket(origin, timeout_s=timeout_s))

    def key(self, *, timeout_s: float | None = None) -> KeyInfo:
        """What this key may do, and what is left of its quota. Costs nothing."""
        return self._portal.run(self._inner.key(timeout_s=timeout_s))

    def stream(
        self, *, buffer_max_records: int = _BUFFER_DEFAULT_RECORDS, recover: bool = True, **callbacks: Unpack[StreamCallbacks]
    ) -> Stream:
        """Makes a stream, as ``AsyncSpotwire.stream`` does. Its callbacks run in the thread of the client."""

        def make() -> AsyncStream:
            return self._inner.stream(buffer_max_records=buffer_max_records, recover=recover, **callbacks)

        return Stream(self._portal, self._portal.call(make))

    def close(self) -> None:
        """Closes the streams and connections of this client, and ends its thread."""
        try:
            self._portal.run(self._inner.aclose())
        except StreamClosedError:
            return
        self._portal.close()

    def __enter__(self) -> "Spotwire":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

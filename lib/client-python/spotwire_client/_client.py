"""The asynchronous client."""

from __future__ import annotations

import asyncio
import math
import random as random_numbers
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, Unpack

import httpx

from ._callbacks import StreamCallbacks, check_callbacks
from ._clock import Clock, MonotonicClock
from ._contract import (
    FILE_ROWS_PER_COST_UNIT,
    KLINES_MAX_LIMIT_ROWS,
    KLINES_ROWS_PER_COST_UNIT,
    STREAM_PATH,
    TICKS_MAX_LIMIT_ROWS,
    TICKS_PER_COST_UNIT,
    TIMEFRAME_S,
)
from ._encoding import require_msgpack
from ._error import BadAnswerError, InvalidKeyError
from ._files import FILE_FORMAT, file_frame, join_frames, tick_file_frame
from ._frames import klines_frame, ticks_frame
from ._gate import RateLimit
from ._handshake import StreamContext, TicketFunction
from ._options import (
    Instant,
    check_base_url,
    check_key,
    check_list,
    check_number,
    check_tickers,
    iso_instant,
    unix_milliseconds,
    unix_seconds,
    whole_milliseconds,
    whole_seconds,
)
from ._progress import Progress, cost_of
from ._rest import Rest, RestOptions
from ._stream import AsyncStream
from .errors import UnknownFileError
from .models import (
    AssetClass,
    ConversionData,
    DataFile,
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
    StreamTicket,
    Summary,
    TickWindow,
    Timeframe,
    TradingHours,
)

if TYPE_CHECKING:
    import pandas

Row = TypeVar("Row")

_TIMEOUT_DEFAULT_S = 10.0
#: A quota window lasts a minute, so this is enough to outlast an exhausted quota.
_MAX_WAIT_DEFAULT_S = 90.0
_MAX_ATTEMPTS_DEFAULT = 4
_MAX_QUEUED_DEFAULT_CALLS = 1_000
BUFFER_DEFAULT_RECORDS = 10_000
#: M1 klines of a longer window are read from files: a week, which two pages hold.
_FILES_MIN_WINDOW_S = 7 * 86_400
#: Ticks of a longer window are read from files: a day.
_TICK_FILES_MIN_WINDOW_MS = 86_400_000
#: Files and ranges of pages that are read at once for one DataFrame.
_FILES_AT_ONCE = 4
#: What of a key identifies it, without being of use to anybody else.
_KEY_PREFIX_CHARACTERS = 12


def _kline_pages_cost(rows: int, limit: int) -> int:
    return math.ceil(rows / limit) * math.ceil(limit / KLINES_ROWS_PER_COST_UNIT)


class Rows(AsyncIterator[Row]):
    """The rows of a window; the next page is read when a loop gets there."""

    def __init__(self, pages: AsyncIterator[list[Row]]) -> None:
        self.pages = pages
        self._page: Iterator[Row] = iter(())

    async def __anext__(self) -> Row:
        while True:
            for row in self._page:
                return row
            self._page = iter(await anext(self.pages))


@dataclass(frozen=True)
class _FileRows:
    """Rows of which there are files, and how they are read. Times are Unix times in units of which a second has so many."""

    type: FileType
    units_per_second: int
    #: The rows of [first, until), in pages; None for the end of the window.
    pages: "Callable[[int, int | None], Awaitable[pandas.DataFrame]]"
    #: About how many units of the rate limit the pages of a range take, by its length.
    cost: Callable[[int], int]
    #: Those of a file.
    of_file: "Callable[[bytes, int, int], pandas.DataFrame]"
    #: A window without rows.
    empty: "pandas.DataFrame"


class AsyncSpotwire:
    """
    Client of a market data service for asyncio. It sends nothing before the first call. Use one client per key: two clients do
    not share their waits. Every failure is a SpotwireError.
    """

    def __init__(
        self,
        base_url: str,
        key: str | None = None,
        *,
        ticket: TicketFunction | None = None,
        timeout_s: float = _TIMEOUT_DEFAULT_S,
        max_wait_s: float = _MAX_WAIT_DEFAULT_S,
        max_attempts: int = _MAX_ATTEMPTS_DEFAULT,
        max_queued_calls: int = _MAX_QUEUED_DEFAULT_CALLS,
        message_pack: bool = False,
        ssl_context: ssl.SSLContext | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        clock: Clock | None = None,
        random: Callable[[], float] = random_numbers.random,
    ) -> None:
        """
        :param base_url: address of the service, for example ``https://market.example.com``
        :param key: ``sw_live_…`` or ``sw_test_…``; optional for a client that only streams with tickets
        :param ticket: returns a fresh ticket for each stream connection
        :param timeout_s: timeout of one attempt in seconds
        :param max_wait_s: maximum seconds a call waits for a Retry-After; 0 to never wait
        :param max_attempts: maximum attempts of one call; 1 to never retry
        :param max_queued_calls: maximum number of waiting calls
        :param message_pack: streams use MessagePack where the service can, for fewer bytes; it needs the package msgpack
        :param ssl_context: trusts other certificates than httpx does by default
        :param transport: replaces the HTTP connections
        :param clock: replaces the clock, for tests
        :param random: replaces random.random, for tests
        :raises InvalidKeyError: for a mistyped key
        :raises InvalidArgumentError: for an invalid option
        """
        self._base_url = check_base_url(base_url)
        self._key = None if key is None else check_key(key)
        self._ticket = ticket
        if message_pack:
            require_msgpack()
        self._message_pack = message_pack
        self._clock: Clock = MonotonicClock() if clock is None else clock
        self._random = random
        # One context for calls and streams, so that both trust the same certificates.
        secure = self._base_url.startswith("https:")
        self._ssl_context = (ssl_context or httpx.create_ssl_context()) if secure else None
        verify: Any = True if self._ssl_context is None else self._ssl_context
        self._http = httpx.AsyncClient(verify=verify, transport=transport, timeout=None, follow_redirects=False)
        options = RestOptions(
            base_url=self._base_url,
            key=self._key,
            clock=self._clock,
            random=random,
            timeout_s=check_number("timeout_s", timeout_s, 0),
            max_wait_s=check_number("max_wait_s", max_wait_s, 0),
            max_attempts=check_number("max_attempts", max_attempts, 1),
            max_queued_calls=check_number("max_queued_calls", max_queued_calls, 0),
        )
        self._rest = Rest(options, self._http)
        self._streams: list[AsyncStream] = []

    def __repr__(self) -> str:
        # As much of a key as the dashboard shows: it is no secret.
        key = "" if self._key is None else f", key='{self._key[:_KEY_PREFIX_CHARACTERS]}…'"
        return f"{type(self).__name__}('{self._base_url}'{key})"

    @property
    def rate_limit(self) -> RateLimit | None:
        """The remaining quota from the last response; None before the first."""
        return self._rest.rate_limit

    async def klines(
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
        query: dict[str, object] = {
            "ticker": ticker,
            "timeframe": timeframe,
            "from": unix_seconds(from_),
            "to": unix_seconds(to),
            "limit": limit,
            "price": price,
            "as_of": iso_instant(as_of),
        }
        window: KlineWindow = await self._rest.call("klines", query, timeout_s)
        return window

    def iter_klines(
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
    ) -> Rows[Kline]:
        """
        All klines of a window from its start, in pages of ``limit`` rows, 1000 by default; the last one may still be open. Without
        ``from_`` the newest ``limit`` rows, as ``klines`` returns them.
        """

        async def pages() -> AsyncIterator[list[Kline]]:
            async for page in self._kline_pages(ticker, timeframe, from_, to, limit, price, as_of, timeout_s):
                yield page["items"]

        return Rows(pages())

    async def _kline_pages(
        self,
        ticker: str,
        timeframe: Timeframe,
        from_: Instant | None,
        to: Instant | None,
        limit: int | None,
        price: PriceSide | None,
        as_of: Instant | None,
        timeout_s: float | None,
    ) -> AsyncIterator[KlineWindow]:
        size = KLINES_ROWS_PER_COST_UNIT if limit is None and from_ is not None else limit
        start = from_
        while True:
            page = await self.klines(ticker, timeframe, start, to, size, price=price, as_of=as_of, timeout_s=timeout_s)
            yield page
            start = page["next_from"]
            if start is None:
                return
            if start <= page["from"]:
                raise BadAnswerError("The next page does not start after this page.")

    async def klines_frame(
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
        progress: bool = False,
    ) -> "pandas.DataFrame":
        """
        Klines as a DataFrame of pandas, indexed by open time in UTC. With ``from_`` it has the whole window, read in pages of
        ``limit`` rows; without, the newest ``limit`` rows.

        M1 klines of a week or more are read from the files of complete months, which takes a request for each month, and the rest of
        the window in pages: unless ``limit``, ``as_of`` or another price than the bid is given. Files are read as Parquet where pyarrow or polars is installed, and
        as CSV elsewhere. The rows are the same either way. A spread that no source knows, which is 0 in records, is NaN.

        A long window says what it will cost before it starts, and what it waits for, to the log; with ``progress`` on the screen too.
        """
        start, end = self._bounds(from_, to, whole_seconds)
        with self._showing(f"{ticker} {timeframe}", start, end, progress) as (shown, reached):

            async def read(first: Instant | None, until: Instant | None, rows: int | None) -> "pandas.DataFrame":
                klines: list[Kline] = []
                pages = self._kline_pages(ticker, timeframe, first, until, rows, price, as_of, timeout_s)
                async for page in pages:
                    klines += page["items"]
                    following = page["next_from"]
                    if following is not None:
                        reached(following - page["from"])
                return klines_frame(klines, ticker, timeframe)

            if start is None or end is None:
                return await read(from_, to, limit)
            in_files = timeframe == "M1" and limit is None and price in (None, "bid") and as_of is None
            if in_files and end - start >= _FILES_MIN_WINDOW_S:
                minutes = _FileRows(
                    "klines",
                    1,
                    lambda first, until: read(first, to if until is None else until, KLINES_MAX_LIMIT_ROWS),
                    lambda seconds: _kline_pages_cost(math.ceil(seconds / TIMEFRAME_S["M1"]), KLINES_MAX_LIMIT_ROWS),
                    file_frame,
                    klines_frame([], ticker, "M1"),
                )
                return await self._frame_of_files(minutes, ticker, start, end, timeout_s, shown, reached)
            size, step_s = KLINES_ROWS_PER_COST_UNIT if limit is None else limit, TIMEFRAME_S.get(timeframe)
            # What is wrong is for the service to refuse.
            if step_s is not None and size > 0 and end - start > size * step_s:
                units = _kline_pages_cost(math.ceil((end - start) / step_s), size)
                shown.say(f"pages of {size} klines, at most {cost_of(units, self.rate_limit)}")
            return await read(from_, to, limit)

    async def ticks(
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
        query: dict[str, object] = {
            "ticker": ticker,
            "from": unix_milliseconds(from_),
            "to": unix_milliseconds(to),
            "limit": limit,
            "cursor": cursor,
        }
        window: TickWindow = await self._rest.call("ticks", query, timeout_s)
        return window

    def iter_ticks(
        self,
        ticker: str,
        from_: Instant | None = None,
        to: Instant | None = None,
        limit: int | None = None,
        *,
        timeout_s: float | None = None,
    ) -> Rows[Quote]:
        """
        All ticks of a window from its start, in pages of ``limit`` rows, 10,000 by default. Without ``from_`` the newest ``limit`` rows,
        as ``ticks`` returns them.
        """

        async def pages() -> AsyncIterator[list[Quote]]:
            async for page in self._tick_pages(ticker, from_, to, limit, timeout_s):
                yield page["items"]

        return Rows(pages())

    async def _tick_pages(
        self, ticker: str, from_: Instant | None, to: Instant | None, limit: int | None, timeout_s: float | None
    ) -> AsyncIterator[TickWindow]:
        size = TICKS_MAX_LIMIT_ROWS if limit is None and from_ is not None else limit
        cursor: str | None = None
        while True:
            page = await self.ticks(ticker, from_, to, size, cursor=cursor, timeout_s=timeout_s)
            yield page
            following = page["next_cursor"]
            if following is None:
                return
            if following == cursor:
                raise BadAnswerError("The next page does not start after this page.")
            cursor = following

    async def ticks_frame(
        self,
        ticker: str,
        from_: Instant | None = None,
        to: Instant | None = None,
        limit: int | None = None,
        *,
        timeout_s: float | None = None,
        progress: bool = False,
    ) -> "pandas.DataFrame":
        """
        Ticks as a DataFrame of pandas, indexed by time in UTC, with the columns bid, ask, mid and spread. With ``from_`` it has the whole
        window, read in pages of ``limit`` rows; without, the newest ``limit`` rows.

        Ticks of a day or more are read from the files of complete days, which takes a request for each day, and the rest of the window
        in pages: unless ``limit`` is given. Files are read as Parquet where pyarrow or polars is installed, and as CSV elsewhere. The
        rows are the same either way.

        A long window says what it will cost before it starts, and what it waits for, to the log; with ``progress`` on the screen too.
        """
        start, end = self._bounds(from_, to, whole_milliseconds)
        with self._showing(f"ticks of {ticker}", start, end, progress) as (shown, reached):

            async def read(first: Instant | None, until: Instant | None, rows: int | None) -> "pandas.DataFrame":
                ticks: list[Quote] = []
                last: int | None = None
                async for page in self._tick_pages(ticker, first, until, rows, timeout_s):
                    ticks += page["items"]
                    if page["next_cursor"] is not None and ticks:
                        newest = ticks[-1]["time_msc"]
                        reached(newest - (ticks[0]["time_msc"] if last is None else last))
                        last = newest
                return ticks_frame(ticks, ticker)

            if limit is not None or start is None or end is None or end - start < _TICK_FILES_MIN_WINDOW_MS:
                return await read(from_, to, limit)
            digits = await self._digits_of(ticker, timeout_s)
            rows = _FileRows(
                "ticks",
                1_000,
                lambda first, until: read(first / 1_000, to if until is None else until / 1_000, TICKS_MAX_LIMIT_ROWS),
                # How many ticks there are is not known: a page at least.
                lambda _: TICKS_MAX_LIMIT_ROWS // TICKS_PER_COST_UNIT,
                lambda content, first, until: tick_file_frame(content, first, until, digits),
                ticks_frame([], ticker),
            )
            return await self._frame_of_files(rows, ticker, start, end, timeout_s, shown, reached)

    def _bounds(
        self, from_: Instant | None, to: Instant | None, whole: Callable[[Instant], int | None]
    ) -> tuple[int | None, int | None]:
        """The bounds of a window as numbers; None where only the service can tell them."""
        if from_ is None:
            return None, None
        return whole(from_), whole(time.time() if to is None else to)

    @contextmanager
    def _showing(
        self, title: str, start: int | None, end: int | None, show: bool
    ) -> Iterator[tuple[Progress, Callable[[float], None]]]:
        """Shows a read, with a function that adds a part of its window, while it lasts."""
        shown = Progress(title, show)
        over = self._rest.waits.watch(shown.show)

        def reached(part: float) -> None:
            if start is not None and end is not None and end > start:
                shown.advance(part / (end - start))

        try:
            yield shown, reached
            shown.advance(1)
        finally:
            over()
            shown.close()

    async def _digits_of(self, ticker: str, timeout_s: float | None) -> int:
        """Digits after the point of a price. 0 for a ticker that the key may not read, of which there are no files either."""
        instruments = (await self.instruments(timeout_s=timeout_s))["items"]
        return next((one["digits"] for one in instruments if one["ticker"] == ticker.upper()), 0)

    async def _frame_of_files(
        self,
        rows: _FileRows,
        ticker: str,
        start: int,
        end: int,
        timeout_s: float | None,
        shown: Progress,
        reached: Callable[[float], None],
    ) -> "pandas.DataFrame":
        """The rows of a window: complete files, and what is between and after them in pages."""
        turn = asyncio.Semaphore(_FILES_AT_ONCE)

        async def read_pages(first: int, until: int | None) -> "pandas.DataFrame":
            async with turn:
                return await rows.pages(first, until)

        async def read_file(id: str, first: int, until: int) -> "pandas.DataFrame":
            try:
                async with turn:
                    frame = rows.of_file(await self.file(id, FILE_FORMAT, timeout_s=timeout_s), first, until)
            except UnknownFileError:
                # It was replaced since it was listed.
                return await read_pages(first, until)
            reached(until - first)
            return frame

        units, unit = 0, rows.units_per_second
        work: list[Callable[[], Coroutine[Any, Any, "pandas.DataFrame"]]] = []
        at, count = start, 0
        async for file in self._complete_files(rows.type, ticker, start // unit, -(-end // unit), timeout_s):
            first, until = max(at, file["from"] * unit), min(file["to"] * unit, end)
            if at < first:
                work.append(partial(read_pages, at, first))
                units += rows.cost(first - at)
            work.append(partial(read_file, file["id"], first, until))
            # How many rows a file has is not known before it is made.
            units += max(1, math.ceil((file["rows"] or 0) / FILE_ROWS_PER_COST_UNIT))
            at, count = until, count + 1
        if at < end:
            work.append(partial(read_pages, at, None))
            units += rows.cost(end - at)
        shown.say(f"{count} file{'' if count == 1 else 's'} and pages for the rest, about {cost_of(units, self.rate_limit)}")
        parts = [asyncio.create_task(begin()) for begin in work]
        try:
            return join_frames(await asyncio.gather(*parts), rows.empty)
        finally:
            for part in parts:
                part.cancel()

    async def _complete_files(
        self, type: FileType, ticker: str, start: int, end: int, timeout_s: float | None
    ) -> AsyncIterator[DataFile]:
        following: int | None = start
        while following is not None:
            page = await self.files(ticker, type, following, end, timeout_s=timeout_s)
            for file in page["items"]:
                if file["complete"]:
                    yield file
            following = page["next_from"]

    async def files(
        self,
        ticker: str,
        type: FileType = "klines",
        from_: Instant | None = None,
        to: Instant | None = None,
        *,
        price: PriceSide | None = None,
        as_of: Instant | None = None,
        timeout_s: float | None = None,
    ) -> DataFileList:
        """
        The files of a ticker whose period touches a range, for bulk downloads. If ``next_from`` of the answer is not None, ask again
        from there. Files of klines can have ask or mid prices in place of the bid, and can be as they would have been at an instant.
        """
        query: dict[str, object] = {
            "ticker": ticker,
            "type": type,
            "from": unix_seconds(from_),
            "to": unix_seconds(to),
            "price": price,
            "as_of": iso_instant(as_of),
        }
        data: DataFileList = await self._rest.call("files", query, timeout_s)
        return data

    async def file(
        self, id: str, format: Literal["parquet", "csv"] | None = None, *, timeout_s: float | None = None
    ) -> bytes:
        """Downloads a file of the list, as Parquet unless said otherwise. The timeout of an attempt includes the whole file."""
        return await self._rest.download(id, {"format": format}, timeout_s)

    async def instruments(
        self, asset_class: AssetClass | None = None, currency: str | None = None, *, timeout_s: float | None = None
    ) -> InstrumentsData:
        """The instruments this key may read: all, or those of an asset class, or with a currency as their base or quote."""
        query = {"asset_class": asset_class, "currency": currency}
        data: InstrumentsData = await self._rest.call("instruments", query, timeout_s)
        return data

    async def latest_quotes(self, tickers: Iterable[str], *, timeout_s: float | None = None) -> LatestQuotesData:
        """Quotes, in the order of the request."""
        data: LatestQuotesData = await self._rest.call("latestQuotes", {"tickers": check_tickers(tickers)}, timeout_s)
        return data

    async def latest_snapshots(self, tickers: Iterable[str], *, timeout_s: float | None = None) -> LatestSnapshotsData:
        """Snapshots, in the order of the request."""
        data: LatestSnapshotsData = await self._rest.call("latestSnapshots", {"tickers": check_tickers(tickers)}, timeout_s)
        return data

    async def conversion(
        self, from_: str, to: Iterable[str], amount: float | None = None, *, timeout_s: float | None = None
    ) -> ConversionData:
        """What an amount, 1 by default, is worth in other currencies, at the latest quotes."""
        query = {"from": from_, "to": check_list("to", to, "USD"), "amount": amount}
        data: ConversionData = await self._rest.call("conversion", query, timeout_s)
        return data

    async def market_status(
        self, tickers: Iterable[str], at: Instant | None = None, *, timeout_s: float | None = None
    ) -> MarketStatusData:
        """Market status and its reason, now or at another time."""
        query = {"tickers": check_tickers(tickers), "at": iso_instant(at)}
        data: MarketStatusData = await self._rest.call("marketStatus", query, timeout_s)
        return data

    async def market_hours(
        self, ticker: str, from_: Instant | None = None, to: Instant | None = None, *, timeout_s: float | None = None
    ) -> TradingHours:
        """
        The times in a range at which the market of a ticker is open, past or future: from now on, and 14 days, unless given. The ``to``
        of the answer says where it ends.
        """
        query = {"ticker": ticker, "from": unix_seconds(from_), "to": unix_seconds(to)}
        data: TradingHours = await self._rest.call("marketHours", query, timeout_s)
        return data

    async def market_summary(
        self,
        ticker: str,
        from_: Instant,
        to: Instant,
        by: Literal["day", "week", "month", "year", "all", "weekday", "hour_of_day", "session", "event"],
        *,
        session: Literal["sydney", "tokyo", "london", "new_york"] | None = None,
        part: Literal["open", "close"] | None = None,
        zone: str | None = None,
        timeout_s: float | None = None,
    ) -> Summary:
        """
        What a market did on the trading days from ``from_`` (included) to ``to`` (excluded), in a few rows: ranges, changes and spreads by
        day, week, weekday, hour, session or event. Days are a date, or text such as ``2026-01-05``. ``session`` counts only the office hours
        of a city, ``part`` only the first or last hour; ``zone`` is the time zone of the hours of ``by="hour_of_day"``.
        """
        query: dict[str, object] = {
            "ticker": ticker,
            "from": unix_seconds(from_),
            "to": unix_seconds(to),
            "by": by,
            "session": session,
            "part": part,
            "zone": zone,
        }
        data: Summary = await self._rest.call("marketSummary", query, timeout_s)
        return data

    async def create_stream_ticket(self, origin: str | None = None, *, timeout_s: float | None = None) -> StreamTicket:
        """A ticket for one stream connection. A server passes the page's ``origin``."""
        data: StreamTicket = await self._rest.call("createStreamTicket", {"origin": origin}, timeout_s)
        return data

    async def key(self, *, timeout_s: float | None = None) -> KeyInfo:
        """What this key may do, and what is left of its quota. Costs nothing."""
        data: KeyInfo = await self._rest.call("key", {}, timeout_s)
        return data

    def stream(
        self, *, buffer_max_records: int = BUFFER_DEFAULT_RECORDS, recover: bool = True, **callbacks: Unpack[StreamCallbacks]
    ) -> AsyncStream:
        """
        Makes a stream, which connects with its first subscription. ``callbacks`` are those of StreamCallbacks, such as
        ``on_gap`` and ``on_error``. With ``recover`` it reads klines that closed while it was away over REST and delivers them,
        with ``recovered: True``, before it goes on: that needs a key with the scope market:read. Raises invalid_key when the
        client has neither a key nor a ticket function.
        """
        if self._key is None and self._ticket is None:
            raise InvalidKeyError("A stream needs a key or a ticket function.")
        url = self._base_url.replace("http", "ws", 1) + STREAM_PATH
        context = StreamContext(
            url=url,
            key=self._key,
            ticket=self._ticket,
            clock=self._clock,
            random=self._random,
            ssl_context=self._ssl_context,
            message_pack=self._message_pack,
            read_klines=None if self._key is None else self._read_klines,
        )
        records = check_number("buffer_max_records", buffer_max_records, 1)
        check_callbacks(callbacks)
        stream = AsyncStream(context, callbacks, records, recover)
        self._streams = [*(one for one in self._streams if one.state != "closed"), stream]
        return stream

    async def _read_klines(self, query: Mapping[str, Any]) -> KlineWindow:
        window: KlineWindow = await self._rest.call("klines", query, None)
        return window

    async def aclose(self) -> None:
        """Closes the streams and connections of this client."""
        for stream in self._streams:
            async with stream:
                pass
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

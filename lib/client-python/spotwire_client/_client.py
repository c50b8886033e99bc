"""The asynchronous client."""

from __future__ import annotations

import asyncio
import random as random_numbers
import ssl
import time
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, AsyncIterator, Awaitable, Callable, Iterable, Literal, Mapping, Unpack

import httpx

from ._callbacks import StreamCallbacks, check_callbacks
from ._clock import Clock, MonotonicClock
from ._contract import KLINES_MAX_LIMIT_ROWS, KLINES_ROWS_PER_COST_UNIT, STREAM_PATH, TICKS_MAX_LIMIT_ROWS
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
from ._rest import Rest, RestOptions
from ._stream import AsyncStream
from .errors import UnknownFileError
from .models import (
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
    TickWindow,
    Timeframe,
    TradingHours,
)

if TYPE_CHECKING:
    import pandas

_TIMEOUT_DEFAULT_S = 10.0
#: A quota window lasts a minute, so this is enough to outlast an exhausted quota.
_MAX_WAIT_DEFAULT_S = 90.0
_MAX_ATTEMPTS_DEFAULT = 4
_MAX_QUEUED_DEFAULT_CALLS = 1_000
_BUFFER_DEFAULT_RECORDS = 10_000
#: M1 klines of a longer window are read from files: a week, which two pages hold.
_FILES_MIN_WINDOW_S = 7 * 86_400
#: Ticks of a longer window are read from files: a day.
_TICK_FILES_MIN_WINDOW_MS = 86_400_000
#: Files and ranges of pages that are read at once for one DataFrame.
_FILES_AT_ONCE = 4


@dataclass(frozen=True)
class _FileRows:
    """Rows of which there are files, and how they are read. Times are Unix times in units of which a second has so many."""

    type: FileType
    units_per_second: int
    #: The rows of [first, until), in pages; None for the end of the window.
    pages: "Callable[[int, int | None], Awaitable[pandas.DataFrame]]"
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

    async def _pages(
        self,
        ticker: str,
        timeframe: Timeframe,
        from_: Instant,
        to: Instant | None,
        limit: int,
        price: PriceSide | None,
        as_of: Instant | None,
        timeout_s: float | None,
    ) -> AsyncIterator[list[Kline]]:
        """The pages of a window from its start."""
        start: Instant = from_
        while True:
            page = await self.klines(ticker, timeframe, start, to, limit, price=price, as_of=as_of, timeout_s=timeout_s)
            yield page["items"]
            following = page["next_from"]
            if following is None:
                return
            if following <= page["from"]:
                raise BadAnswerError("The next page does not start after this page.")
            start = following

    async def iter_klines(
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
    ) -> AsyncIterator[Kline]:
        """All klines of a window from its start, in pages of ``limit`` rows; the last one may still be open."""
        async for page in self._pages(ticker, timeframe, from_, to, limit, price, as_of, timeout_s):
            for kline in page:
                yield kline

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
    ) -> "pandas.DataFrame":
        """
        Klines as a DataFrame of pandas, indexed by open time in UTC. With ``from_`` it has the whole window, read in pages of
        ``limit`` rows; without, the newest ``limit`` rows.

        M1 klines of a week or more are read from the files of complete months, which takes a request for each month, and the rest of
        the window in pages: unless ``limit``, ``as_of`` or another price than the bid is given. Files are read as Parquet where pyarrow or polars is installed, and
        as CSV elsewhere. The rows are the same either way.
        """
        if from_ is not None and timeframe == "M1" and limit is None and price in (None, "bid") and as_of is None:
            start, end = whole_seconds(from_), whole_seconds(time.time() if to is None else to)
            if start is not None and end is not None and end - start >= _FILES_MIN_WINDOW_S:

                async def read_pages(first: int, until: int | None) -> "pandas.DataFrame":
                    last = to if until is None else until
                    return await self.klines_frame(ticker, "M1", first, last, KLINES_MAX_LIMIT_ROWS, timeout_s=timeout_s)

                minutes = _FileRows("klines", 1, read_pages, file_frame, klines_frame([], ticker, "M1"))
                return await self._frame_of_files(minutes, ticker, start, end, timeout_s)
        if from_ is None:
            window = await self.klines(ticker, timeframe, None, to, limit, price=price, as_of=as_of, timeout_s=timeout_s)
            return klines_frame(window["items"], ticker, timeframe)
        rows = KLINES_ROWS_PER_COST_UNIT if limit is None else limit
        found = self.iter_klines(ticker, timeframe, from_, to, rows, price=price, as_of=as_of, timeout_s=timeout_s)
        klines = [kline async for kline in found]
        return klines_frame(klines, ticker, timeframe)

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

    async def _tick_pages(
        self, ticker: str, from_: Instant, to: Instant | None, limit: int, timeout_s: float | None
    ) -> AsyncIterator[list[Quote]]:
        """The pages of a window from its start."""
        cursor: str | None = None
        while True:
            page = await self.ticks(ticker, from_, to, limit, cursor=cursor, timeout_s=timeout_s)
            yield page["items"]
            following = page["next_cursor"]
            if following is None:
                return
            if following == cursor:
                raise BadAnswerError("The next page does not start after this page.")
            cursor = following

    async def iter_ticks(
        self,
        ticker: str,
        from_: Instant,
        to: Instant | None = None,
        limit: int = TICKS_MAX_LIMIT_ROWS,
        *,
        timeout_s: float | None = None,
    ) -> AsyncIterator[Quote]:
        """All ticks of a window from its start, in pages of ``limit`` rows."""
        async for page in self._tick_pages(ticker, from_, to, limit, timeout_s):
            for tick in page:
                yield tick

    async def ticks_frame(
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
        if from_ is not None and limit is None:
            start, end = whole_milliseconds(from_), whole_milliseconds(time.time() if to is None else to)
            if start is not None and end is not None and end - start >= _TICK_FILES_MIN_WINDOW_MS:
                digits = await self._digits_of(ticker, timeout_s)

                async def read_pages(first: int, until: int | None) -> "pandas.DataFrame":
                    last = to if until is None else until / 1_000
                    return await self.ticks_frame(ticker, first / 1_000, last, TICKS_MAX_LIMIT_ROWS, timeout_s=timeout_s)

                def of_file(content: bytes, first: int, until: int) -> "pandas.DataFrame":
                    return tick_file_frame(content, first, until, digits)

                rows = _FileRows("ticks", 1_000, read_pages, of_file, ticks_frame([], ticker))
                return await self._frame_of_files(rows, ticker, start, end, timeout_s)
        if from_ is None:
            window = await self.ticks(ticker, None, to, limit, timeout_s=timeout_s)
            return ticks_frame(window["items"], ticker)
        size = TICKS_MAX_LIMIT_ROWS if limit is None else limit
        return ticks_frame([tick async for tick in self.iter_ticks(ticker, from_, to, size, timeout_s=timeout_s)], ticker)

    async def _digits_of(self, ticker: str, timeout_s: float | None) -> int:
        """Digits after the point of a price. 0 for a ticker that the key may not read, of which there are no files either."""
        instruments = (await self.instruments(timeout_s=timeout_s))["items"]
        return next((one["digits"] for one in instruments if one["ticker"] == ticker.upper()), 0)

    async def _frame_of_files(
        self, rows: _FileRows, ticker: str, start: int, end: int, timeout_s: float | None
    ) -> "pandas.DataFrame":
        """The rows of a window: complete files, and what is between and after them in pages."""
        turn = asyncio.Semaphore(_FILES_AT_ONCE)

        async def read_pages(first: int, until: int | None) -> "pandas.DataFrame":
            async with turn:
                return await rows.pages(first, until)

        async def read_file(id: str, first: int, until: int) -> "pandas.DataFrame":
            try:
                async with turn:
                    return rows.of_file(await self.file(id, FILE_FORMAT, timeout_s=timeout_s), first, until)
            except UnknownFileError:
                # It was replaced since it was listed.
                return await read_pages(first, until)

        parts: list[asyncio.Task["pandas.DataFrame"]] = []
        reached, unit = start, rows.units_per_second
        try:
            async for file in self._complete_files(rows.type, ticker, start // unit, -(-end // unit), timeout_s):
                first, until = max(reached, file["from"] * unit), min(file["to"] * unit, end)
                if reached < first:
                    parts.append(asyncio.create_task(read_pages(reached, first)))
                parts.append(asyncio.create_task(read_file(file["id"], first, until)))
                reached = until
            if reached < end:
                parts.append(asyncio.create_task(read_pages(reached, None)))
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
        timeout_s: float | None = None,
    ) -> DataFileList:
        """
        The files of a ticker whose period touches a range, for bulk downloads. If ``next_from`` of the answer is not None, ask again
        from there.
        """
        query = {"ticker": ticker, "type": type, "from": unix_seconds(from_), "to": unix_seconds(to)}
        data: DataFileList = await self._rest.call("files", query, timeout_s)
        return data

    async def file(
        self, id: str, format: Literal["parquet", "csv"] | None = None, *, timeout_s: float | None = None
    ) -> bytes:
        """Downloads a file of the list, as Parquet unless said otherwise. The timeout of an attempt includes the whole file."""
        return await self._rest.download(id, {"format": format}, timeout_s)

    async def instruments(self, *, timeout_s: float | None = None) -> InstrumentsData:
        """The instruments this key may read."""
        data: InstrumentsData = await self._rest.call("instruments", {}, timeout_s)
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

    async def create_stream_ticket(self, origin: str | None = None, *, timeout_s: float | None = None) -> StreamTicket:
        """A ticket for one stream connection. A server passes the page's ``origin``."""
        data: StreamTicket = await self._rest.call("createStreamTicket", {"origin": origin}, timeout_s)
        return data

    async def key(self, *, timeout_s: float | None = None) -> KeyInfo:
        """What this key may do, and what is left of its quota. Costs nothing."""
        data: KeyInfo = await self._rest.call("key", {}, timeout_s)
        return data

    def stream(
        self, *, buffer_max_records: int = _BUFFER_DEFAULT_RECORDS, recover: bool = True, **callbacks: Unpack[StreamCallbacks]
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

    async def __aenter__(self) -> "AsyncSpotwire":
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        await self.aclose()

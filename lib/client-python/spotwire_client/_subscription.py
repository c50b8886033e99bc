"""The followed tickers of one subscriber, and the records that wait for its loop."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import Any, Callable, Generic, Mapping, Protocol, Self, Sequence, TypeVar, cast

from ._answers import service_error
from ._error import BufferOverflowError, InvalidArgumentError, SpotwireError, UnsubscribedError
from ._topics import Selection, Topic
from .models import QuietTicker, TickerRejection

Record = TypeVar("Record")


@dataclass(frozen=True)
class SubscribeResult:
    """The result for the tickers of a subscription."""

    accepted: Sequence[str]
    rejected: Sequence[TickerRejection]
    #: Accepted tickers whose market is not fully open, and why.
    quiet: Sequence[QuietTicker]


class Host(Protocol):
    """What a subscription needs from its stream."""

    buffer_max_records: int
    #: True when the stream's callback receives the records, so that none need to be buffered for a loop.
    taken: bool

    def report(self, error: SpotwireError) -> None: ...

    def invoke(self, callback: Callable[..., object] | None, *values: Any) -> None: ...

    def leave(self, follower: Any) -> None: ...


def _error_of(rejection: Mapping[str, Any]) -> SpotwireError:
    ticker, suggestion = rejection["ticker"], rejection.get("suggestion")
    meant = "" if suggestion is None else f" Did you mean {suggestion}?"
    data = {"tickers": [ticker]} if suggestion is None else {"tickers": [ticker], "suggestion": suggestion}
    detail = f"{ticker}: {rejection.get('detail') or rejection['message']}{meant}"
    return service_error(rejection["message"], detail, code=rejection["code"], status=rejection["code"] // 100, data=data)


class AsyncSubscription(Generic[Record]):
    """
    Followed tickers, until ``unsubscribe()`` or the end of the stream; reconnects do not end it. Loop over it with
    ``async for``. Leaving the loop does not unsubscribe: use ``async with``, or call ``unsubscribe()``.
    """

    def __init__(self, selection: Selection, host: Host, on_record: Callable[[Record], object] | None) -> None:
        self._host = host
        self._on_record = on_record
        self._buffering = on_record is None and not host.taken
        self._buffer: deque[Record] = deque()
        self._news: asyncio.Future[None] | None = None
        self._ended = False
        self._end_error: SpotwireError | None = None
        self._iterated = False
        self._dropped = 0
        self._unanswered = set(selection.tickers)
        self._followed = set(selection.tickers)
        self._accepted: list[str] = []
        self._rejected: list[TickerRejection] = []
        self._quiet: list[QuietTicker] = []
        self._answer = asyncio.Event()
        self._answer_error: SpotwireError | None = None
        #: What it follows, as the service writes it.
        self.stream = selection.stream
        self.tickers = tuple(selection.tickers)

    @property
    def dropped(self) -> int:
        """Records dropped because the loop fell behind; ``on_error`` receives ``buffer_overflow`` for the first one."""
        return self._dropped

    async def ready(self) -> SubscribeResult:
        """
        Returns when the service has answered for every ticker for the first time. Raises SpotwireError when it accepted none
        of them, or the stream ended first.
        """
        await self._answer.wait()
        if self._answer_error is not None:
            raise self._answer_error
        return SubscribeResult(self._accepted, self._rejected, self._quiet)

    def unsubscribe(self) -> None:
        """Ends the subscription and its loop."""
        self._host.leave(self)
        self.end(None)

    def __aiter__(self) -> "AsyncSubscription[Record]":
        return self

    async def __anext__(self) -> Record:
        if self._news is not None:
            raise InvalidArgumentError("One loop at a time reads a subscription; create another subscription.")
        self._iterated = self._buffering = True
        while not self._buffer:
            if self._ended:
                # Raised once: a later loop simply ends.
                error, self._end_error = self._end_error, None
                if error is not None:
                    raise error
                raise StopAsyncIteration
            self._news = asyncio.get_running_loop().create_future()
            try:
                await self._news
            finally:
                self._news = None
        return self._buffer.popleft()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.unsubscribe()

    # What follows is called by the stream.

    def on_record(self, message: Any) -> None:
        record = cast(Record, message)
        self._host.invoke(self._on_record, record)
        if not self._buffering or self._ended:
            return
        self._buffer.append(record)
        if len(self._buffer) > self._host.buffer_max_records:
            self._buffer.popleft()
            self._dropped += 1
            if self._dropped == 1:
                limit = self._host.buffer_max_records
                self._host.report(BufferOverflowError(f"More than {limit} records are buffered; the oldest are dropped."))
        self._wake()

    def on_accepted(self, topic: Topic, data: Mapping[str, Any]) -> None:
        if topic.ticker in self._unanswered:
            self._accepted.append(topic.ticker)
            self._quiet.extend(quiet for quiet in data["quiet"] if quiet["ticker"] == topic.ticker)
            self._answered(topic.ticker)

    def on_rejected(self, topic: Topic, rejection: Mapping[str, Any]) -> None:
        if topic.ticker in self._unanswered:
            self._rejected.append(cast(TickerRejection, rejection))
        error = _error_of(rejection)
        self._host.report(error)
        self._followed.discard(topic.ticker)
        if self._followed:
            self._answered(topic.ticker)
            return
        # No ticker is left that could deliver a record.
        self._host.leave(self)
        self.end(error)

    def end(self, error: SpotwireError | None) -> bool:
        """Ends the subscription with its stream; True when a loop raises the error."""
        if not self._ended:
            self._ended = True
            self._end_error = error
            if not self._answer.is_set():
                self._answer_error = error or UnsubscribedError("Unsubscribed before the service answered.")
                self._answer.set()
            self._wake()
        return self._iterated

    def _answered(self, ticker: str) -> None:
        self._unanswered.discard(ticker)
        if not self._unanswered:
            self._answer.set()

    def _wake(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)

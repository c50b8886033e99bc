"""Reads klines that closed while a stream was away over REST, and delivers each once and in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, AsyncIterator, Awaitable, Callable, Literal, Mapping, NotRequired

from ._answers import as_spotwire_error
from ._clock import Clock
from ._contract import KLINE_CLOSE_DELAY_MS, KLINES_MAX_LIMIT_ROWS
from ._error import BadAnswerError, QueueFullError, SpotwireError
from ._topics import KlineProgress, Topic, is_state
from .models import KlineMessage

#: After this every kline before the one that just opened is closed, and its close has arrived.
_SETTLED_AFTER_S = KLINE_CLOSE_DELAY_MS / 1000 + 1.0
#: Klines that one recovery reads; what is older than the rest stays a gap.
_RECOVERED_MAX_ROWS = 20_000
#: Records of a topic that wait for its recovery.
_HELD_MAX_RECORDS = 1_000


class StreamedKline(KlineMessage):
    """A kline of a stream, as the service sent it or as REST gave it."""

    recovered: NotRequired[Literal[True]]
    "It closed while the stream was away and was read over REST. Absent otherwise."


#: Reads a window of klines, given the parameters of the operation. Raises SpotwireError.
ReadKlines = Callable[[Mapping[str, Any]], Awaitable[Any]]


def hold(held: list[Any], message: Any) -> None:
    """Keeps a record until the recovery is over. An open state that a newer one replaces is not kept: the newer one counts it as merged."""

    def is_open(one: Any) -> bool:
        return bool(one["event"] == "update" and not one["closed"])

    def place(one: Any) -> tuple[Any, ...]:
        return (one["epoch"], one["data"]["time"])

    before = held[-1]
    if len(held) > 1 and is_open(before) and is_open(message) and place(before) == place(message):
        held[-1] = {**message, "merged": message.get("merged", 0) + before.get("merged", 0) + 1}
    else:
        held.append(message)


@dataclass(frozen=True)
class Recovery:
    """What a recovery needs of its stream."""

    read: ReadKlines
    clock: Clock
    #: Whether the topic is still followed as it was.
    follows: Callable[[Topic, KlineProgress], bool]
    deliver: Callable[[Topic, Any], None]
    #: Some klines could not be read.
    failed: Callable[[Topic, Any, SpotwireError], None]
    #: Takes a record that waited, as if it came now.
    release: Callable[[Any], None]

    async def run(self, topic: Topic, first: Any) -> None:
        """
        Delivers the klines of a topic that closed while the stream was away, and then ``first``, the record that showed it, and
        those that came meanwhile. Raises nothing but the cancellation of its task.
        """
        progress = topic.progress
        assert progress.held is not None
        held, to = progress.held, first["data"]["time"]
        try:
            await self.clock.wait(_SETTLED_AFTER_S)
            start = to if progress.closed_until is None else progress.closed_until
            async for rows in self._pages(first, start, to):
                if len(held) > _HELD_MAX_RECORDS:
                    raise QueueFullError(f"More than {_HELD_MAX_RECORDS} records wait.")
                # The close of the kline before the running one has come by now if the service sends it: then it is not taken from here.
                streamed = {one["data"]["time"] for one in held if one["closed"] and is_state(one)}
                for data in rows:
                    if not self.follows(topic, progress):
                        return
                    if data["time"] < to and data["time"] not in streamed:
                        self.deliver(topic, _recovered(first, data))
        except Exception as raised:
            if self.follows(topic, progress):
                self.failed(topic, first, as_spotwire_error(raised, "Klines could not be recovered"))
        progress.held = None
        if self.follows(topic, progress):
            self.deliver(topic, first)
            for message in held[1:]:
                self.release(message)

    async def _pages(self, first: Any, start: int, to: int) -> AsyncIterator[list[Any]]:
        """What opened in [start, to), ascending, page by page."""
        selection = {"ticker": first["ticker"], "timeframe": first["timeframe"], "to": to, "limit": KLINES_MAX_LIMIT_ROWS}
        rows = 0
        following: int | None = start
        while following is not None and following < to:
            page = await self.read({**selection, "from": following})
            yield page["items"]
            rows += len(page["items"])
            if page["next_from"] is not None and page["next_from"] <= following:
                raise BadAnswerError("The next page does not start after this page.")
            following = page["next_from"]
            if following is not None and rows >= _RECOVERED_MAX_ROWS:
                detail = f"More than {_RECOVERED_MAX_ROWS} klines of {first['ticker']} closed while the stream was away."
                raise QueueFullError(detail)


def _recovered(first: Mapping[str, Any], data: Any) -> dict[str, Any]:
    names = ("type", "ticker", "timeframe", "epoch", "seq")
    return {**{name: first[name] for name in names}, "event": "update", "closed": True, "data": data, "recovered": True}

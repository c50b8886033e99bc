"""Sends the requests of the topics over the current connection, within the rate limit of the service."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, field
from typing import Any, Awaitable, Callable, Mapping

from ._clock import Clock
from ._topics import Topic, TopicRequest, Topics

#: Share of the allowed rate that is used, because messages that are sent evenly can arrive in a burst.
_RATE_SHARE = 0.8
#: An unacknowledged request is sent again after this time.
_ACK_TIMEOUT_S = 10.0
#: Wait after a message that was rejected by the rate limit, if the service gives no time.
_SLOW_DOWN_S = 1.0

Send = Callable[[Any], Awaitable[None]]


@dataclass
class _Line:
    send: Send
    rate_per_s: float
    burst: int
    tokens: float
    tokens_at: float
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def start(self, work: Any) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task


class Requests:
    """The sender of a stream; it holds what is not acknowledged yet."""

    def __init__(self, topics: Topics, clock: Clock) -> None:
        self._topics = topics
        self._clock = clock
        self._unanswered: dict[int, tuple[TopicRequest, asyncio.Task[None]]] = {}
        self._line: _Line | None = None
        self._last_id = 0
        self._held_until = -math.inf
        self._flushing: asyncio.Task[None] | None = None

    def open(self, limits: Mapping[str, Any], send: Send) -> None:
        """Starts sending over a new connection."""
        burst = max(1, math.floor(limits["messages_burst"] * _RATE_SHARE))
        self._line = _Line(send, limits["messages_per_second"] * _RATE_SHARE, burst, burst, self._clock.now())
        self._held_until = -math.inf
        self.flush()

    def close(self) -> None:
        """Forgets the connection."""
        line, self._line = self._line, None
        for task in [] if line is None else list(line.tasks):
            task.cancel()
        self._flushing = None
        self._unanswered.clear()
        self._topics.disconnected()

    def flush(self) -> None:
        """Schedules a send; requests made in the same turn are sent together."""
        if self._line is not None and self._flushing is None:
            self._flushing = self._line.start(self._run(self._line))

    def on_ack(self, ack: Mapping[str, Any]) -> None:
        request = self._answered(ack.get("id"))
        if request is None:
            return
        if request.method == "unsubscribe":
            self._release(request)
        elif ack["method"] == "subscribe":
            data = ack["data"]
            refusals = {rejection["ticker"]: rejection for rejection in data["rejected"]}
            self._refuse(request, lambda topic: refusals.get(topic.ticker))
            for topic in request.topics:
                if topic.ticker in refusals or topic.request is not request:
                    continue
                topic.live = bool(topic.followers)
                for follower in list(topic.followers):
                    follower.on_accepted(topic, data)

    def on_error(self, message: Mapping[str, Any]) -> bool:
        """True when the error was passed to the subscriptions that it rejects."""
        retry_after = message["data"].get("retry_after")
        too_fast = message["message"] == "rate_limited" or retry_after is not None
        if too_fast:
            self._held_until = self._clock.now() + (_SLOW_DOWN_S if retry_after is None else retry_after)
        refused = False
        # The service does not read a message past its rate limit, so its id may be unknown. It can be any unanswered message.
        unknown = list(self._unanswered) if too_fast else []
        for id in unknown if message["id"] is None else [message["id"]]:
            request = self._answered(id)
            if request is None:
                continue
            if too_fast:
                self._topics.ask_again(request)
            elif request.method == "unsubscribe":
                self._release(request)
            else:
                facts = {"code": message["code"], "message": message["message"], "detail": message["data"]["detail"]}
                self._refuse(request, lambda topic: {"ticker": topic.ticker, **facts})
                refused = True
        self.flush()
        return refused

    def _answered(self, id: Any) -> TopicRequest | None:
        found = self._unanswered.pop(id, None) if isinstance(id, int) else None
        if found is None:
            return None
        request, timer = found
        timer.cancel()
        return request

    async def _run(self, line: _Line) -> None:
        try:
            while self._line is line and self._topics.pending:
                wait = self._take(line)
                if wait > 0:
                    await self._clock.wait(wait)
                else:
                    await self._send_next(line)
        finally:
            if self._line is line:
                self._flushing = None

    def _take(self, line: _Line) -> float:
        """Seconds until a message may be sent; reserves the send when it is 0."""
        now = self._clock.now()
        line.tokens = min(line.burst, line.tokens + (now - line.tokens_at) * line.rate_per_s)
        line.tokens_at = now
        wait = max(self._held_until - now, (1 - line.tokens) / line.rate_per_s)
        if wait > 0:
            return wait
        line.tokens -= 1
        return 0

    async def _send_next(self, line: _Line) -> None:
        request = self._topics.next()
        if request is None:
            return
        self._last_id += 1
        self._unanswered[self._last_id] = (request, line.start(self._ask_again(self._last_id, request)))
        await line.send({"id": self._last_id, "method": request.method, "params": request.params})

    async def _ask_again(self, id: int, request: TopicRequest) -> None:
        await self._clock.wait(_ACK_TIMEOUT_S)
        if self._unanswered.pop(id, None) is not None:
            self._topics.ask_again(request)
            self.flush()

    def _release(self, request: TopicRequest) -> None:
        """Forgets topics that the service no longer follows; topics with new subscriptions stay."""
        for topic in request.topics:
            if not topic.followers and not topic.asked:
                self._topics.remove(topic)

    def _refuse(self, request: TopicRequest, rejection_of: Callable[[Topic], Mapping[str, Any] | None]) -> None:
        for topic in request.topics:
            rejection = rejection_of(topic)
            if rejection is None or topic.request is not request:
                continue
            self._topics.remove(topic)
            for follower in list(topic.followers):
                follower.on_rejected(topic, rejection)

"""The gate that all calls of a client pass: open, or held by a Retry-After."""

from __future__ import annotations

import asyncio
import math
import re
from collections import deque
from dataclasses import dataclass
from typing import Callable

from ._answers import ReadHeader, service_error
from ._clock import Clock, within
from ._error import QueueFullError, SpotwireError


@dataclass(frozen=True)
class RateLimit:
    """The account's quota according to the last response."""

    #: Units per minute.
    limit: int
    #: Units left in this window.
    remaining: int
    #: Seconds from that response until the window ends.
    reset_s: int


def read_rate_limit(header: ReadHeader) -> RateLimit | None:
    """Reads ``RateLimit-Policy: "plan";q=600;w=60`` and ``RateLimit: "plan";r=587;t=41``; None without these headers."""
    texts = (header("ratelimit-policy") or "", header("ratelimit") or "", header("ratelimit") or "")
    found = [re.search(rf";\s*{name}=([0-9]+)", text) for name, text in zip("qrt", texts)]
    numbers = [int(match[1]) for match in found if match is not None]
    return RateLimit(*numbers) if len(numbers) == 3 else None


def _nothing() -> None:
    pass


class Gate:
    """
    After a hold, waiting calls pass one at a time, each after the response to the previous call, because the service would
    reject a burst again.
    """

    def __init__(self, clock: Clock, max_queued_calls: int, waiting: Callable[[float, str], None]) -> None:
        self._clock = clock
        self._waiting = waiting
        self._max_queued_calls = max_queued_calls
        self._queue: deque[asyncio.Future[Callable[[], None]]] = deque()
        self._held_until = -math.inf
        self._held_by: SpotwireError | None = None
        self._draining: asyncio.Task[None] | None = None
        self._pause: asyncio.Future[None] | None = None

    async def enter(self, deadline: float, first: bool) -> Callable[[], None]:
        """
        Returns when the call may be sent, with a function to call once its response was handled. ``first`` puts a retry before
        calls that have not been sent. Raises queue_full, or the error of the hold when it lasts beyond the deadline.
        """
        if self._draining is None and self._clock.now() >= self._held_until:
            return _nothing
        if self._held_until > deadline:
            raise self._too_long()
        if len(self._queue) >= self._max_queued_calls:
            raise QueueFullError(f"Not sent: {self._max_queued_calls} calls are already waiting.")
        waiter: asyncio.Future[Callable[[], None]] = asyncio.get_running_loop().create_future()
        if first:
            self._queue.appendleft(waiter)
        else:
            self._queue.append(waiter)
        if self._draining is None:
            self._draining = asyncio.create_task(self._drain())
        try:
            return await within(self._clock, deadline - self._clock.now(), waiter, self._too_long)
        except BaseException:
            self._give_up(waiter)
            raise

    def hold(self, error: SpotwireError) -> None:
        """Holds every call until the error's Retry-After is over."""
        until = self._clock.now() + (error.retry_after or 0)
        if until > self._held_until:
            self._held_until = until
            self._held_by = error

    def _give_up(self, waiter: asyncio.Future[Callable[[], None]]) -> None:
        if waiter in self._queue:
            self._queue.remove(waiter)
            if not self._queue and self._pause is not None:
                self._pause.cancel()
        elif not waiter.cancelled():
            # It was admitted in the moment it was cancelled; the next one must not wait for it.
            waiter.result()()

    def _too_long(self) -> SpotwireError:
        left_s = max(0, math.ceil(self._held_until - self._clock.now()))
        detail = f"Not sent: the service asked this client to wait another {left_s} s, which is longer than this call may wait."
        held = self._held_by
        error = service_error(
            "rate_limited" if held is None else held.id,
            detail,
            code=held and held.code,
            status=held and held.status,
            data=held and held.data,
            retry_after=left_s,
        )
        error.__cause__ = held
        return error

    async def _drain(self) -> None:
        try:
            while self._queue:
                left = self._held_until - self._clock.now()
                if left > 0:
                    self._waiting(left, f"the service asked for it. {self._held_by}")
                    self._pause = asyncio.ensure_future(self._clock.wait(left))
                    await asyncio.wait({self._pause})
                    self._pause = None
                    continue
                waiter = self._queue.popleft()
                if waiter.done():
                    continue
                gone = asyncio.Event()
                waiter.set_result(gone.set)
                await gone.wait()
        finally:
            if self._pause is not None:
                self._pause.cancel()
            self._draining = None

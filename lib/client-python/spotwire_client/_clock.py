"""The clock of a client: it measures durations and waits, and never reads the date."""

from __future__ import annotations

import asyncio
import time
from typing import Any, Awaitable, Callable, Protocol, TypeVar

from ._error import SpotwireError

T = TypeVar("T")


class Clock(Protocol):
    """Can be replaced in tests."""

    def now(self) -> float:
        """Seconds since a fixed moment; never goes back."""

    async def wait(self, seconds: float) -> None:
        """Returns after so many seconds."""


class MonotonicClock:
    """The clock of the machine; setting its date does not change a wait."""

    def now(self) -> float:
        return time.monotonic()

    async def wait(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def full_jitter(random: Callable[[], float], attempt: int, base_s: float, cap_s: float) -> float:
    """
    Seconds before retry number ``attempt``, counted from 0: a random value below min(cap_s, base_s * 2^attempt), so that
    clients that failed together do not retry together.
    """
    # Beyond 2^32 every cap is reached; a larger power would only overflow.
    return random() * min(cap_s, base_s * 2.0 ** min(attempt, 32))


async def settle(*tasks: asyncio.Future[Any]) -> None:
    """Cancels tasks and waits until they have ended."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def within(clock: Clock, seconds: float, work: Awaitable[T], late: Callable[[], SpotwireError]) -> T:
    """The result of ``work``, which is cancelled after so many seconds: then ``late`` makes the error to raise."""
    task = asyncio.ensure_future(work)
    timer = asyncio.ensure_future(clock.wait(max(0.0, seconds)))
    try:
        await asyncio.wait({task, timer}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise late()
        return task.result()
    finally:
        await settle(task, timer)

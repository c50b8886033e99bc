"""
Runs the client for a test that scripts the service: reads one command per line, and writes one event per line. Its clock
stands still until the test moves it, and says what waits for it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from typing import Any

from spotwire_client import AsyncSpotwire, SpotwireError

#: Turns of the loop in which everything that a timer woke gets as far as the next wait.
_TURNS = 25


def say(event: str, **facts: Any) -> None:
    print(json.dumps({"event": event, **facts}, default=vars), flush=True)


def shown(error: SpotwireError) -> dict[str, Any]:
    names = ("id", "detail", "code", "status", "request_id", "retry_after")
    facts = {name: getattr(error, name) for name in names}
    cause = None if error.__cause__ is None else type(error.__cause__).__name__
    return {**facts, "data": dict(error.data), "kind": type(error).__name__, "cause": cause, "text": str(error)}


class ManualClock:
    """Says each wait when it begins and when it ends."""

    def __init__(self) -> None:
        self._now = 0.0
        self._waits: list[tuple[float, asyncio.Future[None]]] = []

    def now(self) -> float:
        return self._now

    async def wait(self, seconds: float) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        entry = (self._now + seconds, future)
        self._waits.append(entry)
        say("wait", s=round(seconds, 6))
        try:
            if seconds > 0:
                await future
        finally:
            self._waits.remove(entry)
            say("waited", s=round(seconds, 6))

    async def advance(self, seconds: float) -> None:
        target = self._now + seconds
        while True:
            due = [entry for entry in self._waits if entry[0] <= target + 1e-9 and not entry[1].done()]
            if not due:
                break
            at, future = min(due, key=lambda entry: entry[0])
            self._now = max(self._now, at)
            future.set_result(None)
            for _ in range(_TURNS):
                await asyncio.sleep(0)
        self._now = target


class Driver:
    """One client, its streams and subscriptions by name."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.client: AsyncSpotwire | None = None
        self.stream: Any = None
        self.subscriptions: dict[str, Any] = {}
        self.tasks: dict[int, asyncio.Task[None]] = {}
        self.tickets = 0

    async def do_open(self, url: str, key: str | None = None, tickets: bool = False, **options: Any) -> None:
        await self.do_reset()

        async def later(text: str) -> str:
            return text

        def ticket() -> Any:
            self.tickets += 1
            text = f"t{self.tickets}"
            return text if self.tickets % 2 == 1 else later(text)

        self.clock = ManualClock()
        extra = {"ticket": ticket} if tickets else {}
        self.client = AsyncSpotwire(url, key, clock=self.clock, random=lambda: 0.5, **extra, **options)

    async def do_reset(self) -> None:
        for task in [task for task in self.tasks.values() if task is not asyncio.current_task()]:
            task.cancel()
        if self.client is not None:
            await self.client.aclose()
        self.subscriptions.clear()
        self.tickets = 0

    async def do_advance(self, s: float) -> None:
        await self.clock.advance(s)

    async def do_call(self, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        found = getattr(self.client, name)(*args, **kwargs)
        if hasattr(found, "__aiter__"):
            return [row async for row in found]
        return await found

    async def do_rate_limit(self) -> Any:
        return self.client and self.client.rate_limit

    async def do_stream(self, silent: bool = False, failing: bool = False, closing: str = "", **options: Any) -> None:
        assert self.client is not None

        def callback(event: str) -> Any:
            def told(value: Any) -> None:
                say(event, value=shown(value) if isinstance(value, SpotwireError) else value)
                if failing and event == "record":
                    raise ZeroDivisionError("mine")
                if closing == event:
                    self.stream.close()

            return told

        names = {"on_record": "record", "on_gap": "gap", "on_error": "error", "on_close": "close", "on_state_change": "state"}
        names.update(on_status="status", on_heartbeat="heartbeat", on_open="open")
        wanted = {} if silent else {option: callback(event) for option, event in names.items()}
        self.stream = self.client.stream(**wanted, **options)

    async def do_subscribe(self, name: str, stream: str, tickers: list[str], **options: Any) -> None:
        self.subscriptions[name] = self.stream.subscribe(stream, tickers, **options)

    async def do_unsubscribe(self, name: str) -> None:
        self.subscriptions[name].unsubscribe()

    async def do_ready(self, name: str) -> Any:
        return await self.subscriptions[name].ready()

    async def do_next(self, name: str) -> Any:
        return await anext(self.subscriptions[name], None)

    async def do_dropped(self, name: str) -> int:
        dropped: int = self.subscriptions[name].dropped
        return dropped

    async def do_close(self) -> None:
        self.stream.close()

    async def do_closed(self) -> None:
        await self.stream.wait_closed()

    async def do_cancel(self, which: int) -> None:
        self.tasks[which].cancel()

    async def run(self, id: int, do: str, **values: Any) -> None:
        try:
            say("result", id=id, value=await getattr(self, f"do_{do}")(**values))
        except SpotwireError as error:
            say("raised", id=id, error=shown(error))
        except asyncio.CancelledError:
            say("cancelled", id=id)
        except Exception as error:
            say("broke", id=id, error=repr(error))


class Log(logging.Handler):
    """Says each line of the client's log."""

    def emit(self, record: logging.LogRecord) -> None:
        say("log", value=record.getMessage())


async def main() -> None:
    log = logging.getLogger("spotwire_client")
    log.addHandler(Log())
    log.setLevel(logging.INFO)
    driver = Driver()
    reader = asyncio.StreamReader(limit=2**22)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        command = json.loads(line)
        driver.tasks[command["id"]] = asyncio.create_task(driver.run(**command))


asyncio.run(main())

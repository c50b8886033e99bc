"""How far a long read is: in the log, and on the screen where it is asked for."""

from __future__ import annotations

import importlib.util
import logging
import math
import sys
from typing import Any, Callable

from ._gate import RateLimit

_log = logging.getLogger("spotwire_client")


def cost_of(units: int, left: RateLimit | None) -> str:
    """What a read costs, of what is left, and how long the rate limit makes it take."""
    text = f"{units} unit{'' if units == 1 else 's'}"
    if left is None:
        return text
    text += f" of the {left.remaining} that are left now"
    if units <= left.remaining:
        return text
    minutes = math.ceil((units - left.remaining) / max(left.limit, 1))
    return f"{text}. At {left.limit} a minute, this takes about {minutes} min"


class Progress:
    """
    The progress of one read: on a bar where tqdm is installed, and as lines on stderr elsewhere. What is said is logged as well.
    Silent unless ``show``, but for the log.
    """

    def __init__(self, title: str, show: bool) -> None:
        self._title = title
        self._show = show
        self._done = 0.0
        self._bar: Any = None
        if show and importlib.util.find_spec("tqdm") is not None:
            from tqdm.auto import tqdm

            self._bar = tqdm(total=100, desc=title, bar_format="{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}")

    def say(self, text: str) -> None:
        """Says what the read does, such as what it costs."""
        line = f"{self._title}: {text}"
        _log.info("%s", line)
        self.show(line)

    def show(self, line: str) -> None:
        """Shows a line that is in the log already."""
        if self._bar is not None:
            self._bar.write(line, file=sys.stderr)
        elif self._show:
            print(line, file=sys.stderr, flush=True)

    def advance(self, share: float) -> None:
        """Adds a share of the whole, from 0 to 1."""
        before, self._done = self._done, min(1.0, self._done + share)
        if self._bar is not None:
            self._bar.update(100 * (self._done - before))
        elif math.floor(10 * self._done) > math.floor(10 * before):
            self.show(f"{self._title}: {100 * self._done:.0f}%")

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


class Waits:
    """Tells what the client waits for: the log, and the reads that are shown."""

    def __init__(self) -> None:
        self._shown: list[Callable[[str], None]] = []

    def watch(self, show: Callable[[str], None]) -> Callable[[], None]:
        """Also shows the waits from now on. Returns the function that ends it."""
        self._shown.append(show)
        return lambda: self._shown.remove(show)

    def tell(self, seconds: float, reason: str) -> None:
        line = f"waiting {seconds:.1f} s: {reason}"
        _log.info("%s", line)
        for show in self._shown:
            show(line)

"""What a stream tells its user."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, Callable, Literal, Mapping, TypedDict, Union

from ._error import InvalidArgumentError, SpotwireError
from ._recovery import StreamedKline
from ._sequence import Gap
from .models import Heartbeat, MarketStatus, QuoteMessage, SnapshotMessage, Welcome

#: ``idle``: nothing is followed. ``waiting``: for the next attempt. ``closed``: the stream has ended.
StreamState = Literal["idle", "connecting", "open", "waiting", "closed"]
PushMessage = Union[QuoteMessage, SnapshotMessage, StreamedKline]


@dataclass(frozen=True)
class StateChange:
    """A change of the stream's state."""

    state: StreamState
    #: While connecting: 1 for the first attempt since the last good connection.
    attempt: int | None = None
    #: While waiting: seconds until the next attempt.
    retry_in_s: float | None = None
    #: The error that caused the change, if any.
    error: SpotwireError | None = None


@dataclass(frozen=True)
class StreamClose:
    """The end of an open connection."""

    code: int
    reason: str
    #: ``retry``: the stream reconnects. ``terminal``: it does not.
    after: Literal["retry", "terminal"]
    #: Description of what happened.
    meaning: str


class StreamCallbacks(TypedDict, total=False):
    """Plain functions. An exception of one goes to ``on_error`` as ``callback_failed``."""

    on_open: Callable[[Welcome], object]
    """Called on connect and on each reconnect; the stream restores its subscriptions."""
    on_record: Callable[[PushMessage], object]
    """Every record of every subscription."""
    on_status: Callable[[MarketStatus], object]
    """The market status of a followed ticker changed."""
    on_heartbeat: Callable[[Heartbeat], object]
    """Lists followed tickers without new records, and why."""
    on_gap: Callable[[Gap], object]
    """
    Records are missing: of quotes and snapshots those between two sequences; of klines those that closed and could not be read
    over REST, or all with ``recover=False``. Called before the record that revealed the gap.
    """
    on_error: Callable[[SpotwireError], object]
    """Called for every error, also those the stream recovers from; after a final one it is closed. Without it, errors are logged."""
    on_close: Callable[[StreamClose], object]
    """An open connection ended."""
    on_state_change: Callable[[StateChange], object]


def check_callbacks(callbacks: Mapping[str, Any]) -> None:
    """Raises invalid_argument for a callback that does not exist, or cannot be called at once."""
    for name, callback in callbacks.items():
        if name not in StreamCallbacks.__optional_keys__:
            names = ", ".join(sorted(StreamCallbacks.__optional_keys__))
            raise InvalidArgumentError(f"A stream has no option {name}. Its callbacks are {names}.")
        check_callback(name, callback)


def check_callback(name: str, callback: Any) -> None:
    """Raises invalid_argument for what cannot be called at once."""
    if callback is not None and (not callable(callback) or inspect.iscoroutinefunction(callback)):
        raise InvalidArgumentError(f"{name} must be a plain function; start a task in it to await something.")

"""Typed client of a Spotwire market data service."""

from . import errors, models
from ._callbacks import StateChange, StreamCallbacks, StreamClose
from ._client import AsyncSpotwire
from ._contract import VERSION as __version__
from ._error import SpotwireError
from ._frames import to_frame
from ._gate import RateLimit
from ._recovery import StreamedKline
from ._sequence import Gap
from ._stream import AsyncStream
from ._subscription import AsyncSubscription, SubscribeResult
from ._sync import Spotwire, Stream, Subscription

__all__ = [
    "AsyncSpotwire",
    "AsyncStream",
    "AsyncSubscription",
    "Gap",
    "RateLimit",
    "Spotwire",
    "SpotwireError",
    "StateChange",
    "Stream",
    "StreamCallbacks",
    "StreamClose",
    "StreamedKline",
    "Subscription",
    "SubscribeResult",
    "__version__",
    "errors",
    "models",
    "to_frame",
]

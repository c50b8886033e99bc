"""Whether and when a stream connects again."""

from __future__ import annotations

from typing import Callable

from ._clock import full_jitter
from ._connection import Ending
from ._contract import CLOSES
from ._error import ConnectionLostError, InvalidArgumentError, InvalidKeyError, SpotwireError

_BACKOFF_BASE_S = 0.5
_BACKOFF_CAP_S = 30.0
#: Longest Retry-After of a rejected handshake that is followed.
_RETRY_AFTER_MAX_S = 3_600.0
#: Client errors of HTTP that a retry can change.
_PASSING_STATUSES = (408, 425, 429)


def _is_final(error: SpotwireError) -> bool:
    """Rejections of a handshake that no retry changes, such as a wrong key, scope, origin or address, and errors of the client."""
    if isinstance(error, (InvalidArgumentError, InvalidKeyError)):
        return True
    return error.status is not None and 400 <= error.status < 500 and error.status not in _PASSING_STATUSES


def is_terminal(code: int) -> bool:
    """True for a close after which the stream does not connect again."""
    return code in CLOSES and CLOSES[code].terminal


def final_error(ending: Ending) -> SpotwireError | None:
    """The error that ends the stream; None if a retry makes sense."""
    if ending.error is not None and _is_final(ending.error):
        return ending.error
    if not is_terminal(ending.code):
        return None
    return ending.error or ConnectionLostError(CLOSES[ending.code].meaning)


def delay_before(ending: Ending, failures: int, random: Callable[[], float]) -> float:
    """
    Seconds until the next attempt: a random moment within the time that the server gave, or its Retry-After plus jitter, so
    that clients do not all return at its end. Else full jitter with a limit that doubles from 0.5 s to 30 s.
    """
    if ending.reconnect_within_s is not None:
        return random() * ending.reconnect_within_s
    retry_after = (ending.error and ending.error.retry_after) or 0
    return min(retry_after, _RETRY_AFTER_MAX_S) + full_jitter(random, failures, _BACKOFF_BASE_S, _BACKOFF_CAP_S)

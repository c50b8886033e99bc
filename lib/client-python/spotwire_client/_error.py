"""The base of all errors, and the errors of the client itself."""

from __future__ import annotations

from typing import Any, ClassVar, Mapping


class SpotwireError(Exception):
    """Every failure of this client. Branch on the class or on ``id``, show the text, report ``request_id``."""

    #: Identifier of the class; an error that a later version of the service adds has only its own ``id``.
    ID: ClassVar[str] = "unknown_error"

    #: Stable identifier, for example ``unknown_ticker`` or ``network_error``.
    id: str
    #: Description of the failure.
    detail: str
    #: The numeric code of the service, status * 100 + n; None for an error of the client.
    code: int | None
    #: HTTP status, if there was a response.
    status: int | None
    #: Include it when you report a problem.
    request_id: str | None
    #: Seconds to wait before the next attempt.
    retry_after: float | None
    #: All data of the failed response: ``parameter``, ``allowed``, ``tickers``, ``suggestion``, ``docs_url`` …
    data: Mapping[str, Any]

    def __init__(
        self,
        detail: str,
        *,
        id: str | None = None,
        code: int | None = None,
        status: int | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        self.id = self.ID if id is None else id
        self.detail = detail
        self.code = code
        self.status = status
        self.request_id = request_id
        self.retry_after = retry_after
        self.data = {} if data is None else data
        super().__init__(detail)

    def __str__(self) -> str:
        request = "" if self.request_id is None else f" (request {self.request_id})"
        return f"{self.id}: {self.detail}{request}"


class NetworkError(SpotwireError, ConnectionError):
    """No response: the address is wrong, or the network or the server is down; see ``__cause__``. Redirects are not followed."""

    ID = "network_error"


class CallTimeoutError(SpotwireError, TimeoutError):
    """No response within ``timeout_s``, or no ticket from the ticket function."""

    ID = "timeout"


class BadAnswerError(SpotwireError):
    """The response does not come from the service, for example a proxy's error page."""

    ID = "bad_answer"


class InvalidKeyError(SpotwireError, ValueError):
    """The key is missing or mistyped. It was not sent."""

    ID = "invalid_key"


class InvalidArgumentError(SpotwireError, ValueError):
    """An option or a parameter is invalid. Nothing was sent."""

    ID = "invalid_argument"


class QueueFullError(SpotwireError):
    """More than ``max_queued_calls`` calls are waiting."""

    ID = "queue_full"


class ConnectionLostError(SpotwireError, ConnectionError):
    """A stream connection was closed or went silent."""

    ID = "connection_lost"


class StreamClosedError(SpotwireError):
    """The stream or the client is already closed."""

    ID = "stream_closed"


class UnsubscribedError(SpotwireError):
    """The subscription ended before the service answered it."""

    ID = "aborted"


class BufferOverflowError(SpotwireError):
    """Records arrived faster than the loop read them; the oldest were dropped."""

    ID = "buffer_overflow"


class CallbackFailedError(SpotwireError):
    """A callback of the stream raised; see ``__cause__``."""

    ID = "callback_failed"

"""Every error: those of the client, and one class for each error of the service that a reading client can meet."""

from ._error import (
    BadAnswerError,
    BufferOverflowError,
    CallbackFailedError,
    CallTimeoutError,
    ConnectionLostError,
    InvalidArgumentError,
    InvalidKeyError,
    NetworkError,
    QueueFullError,
    SpotwireError,
    StreamClosedError,
    UnsubscribedError,
)
from ._service_errors import *  # noqa: F403
from ._service_errors import __all__ as _service_errors

__all__ = [
    "BadAnswerError",
    "BufferOverflowError",
    "CallTimeoutError",
    "CallbackFailedError",
    "ConnectionLostError",
    "InvalidArgumentError",
    "InvalidKeyError",
    "NetworkError",
    "QueueFullError",
    "SpotwireError",
    "StreamClosedError",
    "UnsubscribedError",
]
__all__ += _service_errors

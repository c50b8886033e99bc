"""Every error: those of the client, and one class for each error of the service that a reading client can meet."""

from ._error import BadAnswerError as BadAnswerError
from ._error import BufferOverflowError as BufferOverflowError
from ._error import CallbackFailedError as CallbackFailedError
from ._error import CallTimeoutError as CallTimeoutError
from ._error import ConnectionLostError as ConnectionLostError
from ._error import InvalidArgumentError as InvalidArgumentError
from ._error import InvalidKeyError as InvalidKeyError
from ._error import NetworkError as NetworkError
from ._error import QueueFullError as QueueFullError
from ._error import SpotwireError as SpotwireError
from ._error import StreamClosedError as StreamClosedError
from ._error import UnsubscribedError as UnsubscribedError
from ._service_errors import *  # noqa: F403

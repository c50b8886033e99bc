"""The credentials of a stream connection."""

from __future__ import annotations

import asyncio
import inspect
import re
import ssl
from dataclasses import dataclass
from typing import Any, Awaitable, Callable

from ._clock import Clock, within
from ._connection import Handshake
from ._contract import STREAM_PROTOCOL, STREAM_PROTOCOL_MSGPACK, TICKET_PROTOCOL_PREFIX
from ._error import BadAnswerError, CallTimeoutError, SpotwireError
from ._recovery import ReadKlines

#: Returns a ticket for one connection: a coroutine function, or a plain one, which runs in a thread.
TicketFunction = Callable[[], "str | Awaitable[str]"]

#: Timeout of the user's ticket function.
_TICKET_TIMEOUT_S = 30.0
#: Characters of a subprotocol (RFC 9110, token).
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


@dataclass(frozen=True)
class StreamContext:
    """What a stream is made from."""

    #: URL of the WebSocket.
    url: str
    key: str | None
    #: The user's ticket function; takes precedence over the key.
    ticket: TicketFunction | None
    clock: Clock
    random: Callable[[], float]
    ssl_context: ssl.SSLContext | None
    #: Offers MessagePack, before JSON for a service that does not have it.
    message_pack: bool
    #: Reads klines over REST; None where the client cannot.
    read_klines: ReadKlines | None


async def _ask(ticket: TicketFunction) -> str:
    """A plain function may block: it runs in a thread, so that other streams and calls go on."""
    function: Callable[[], Any] = ticket
    asked = function() if inspect.iscoroutinefunction(ticket) else await asyncio.to_thread(function)
    text: str = await asked if inspect.isawaitable(asked) else asked
    return text


async def prepare_handshake(context: StreamContext) -> Handshake:
    """The key in the Authorization header, or a fresh ticket as a subprotocol. A ticket opens one connection."""
    protocols = [STREAM_PROTOCOL_MSGPACK, STREAM_PROTOCOL] if context.message_pack else [STREAM_PROTOCOL]
    if context.ticket is None:
        return Handshake(protocols, {"Authorization": f"Bearer {context.key}"})

    def late() -> SpotwireError:
        return CallTimeoutError(f"The ticket function returned no ticket within {_TICKET_TIMEOUT_S:g} s.")

    text = await within(context.clock, _TICKET_TIMEOUT_S, _ask(context.ticket), late)
    if not isinstance(text, str) or not _TOKEN.fullmatch(text):
        raise BadAnswerError("The ticket function must return the text of a ticket.")
    return Handshake([*protocols, TICKET_PROTOCOL_PREFIX + text], {})

"""One connection of a stream, from its handshake to its end."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass
from typing import Any, Awaitable, Callable, Mapping, Sequence

from ._answers import as_spotwire_error, fields_of
from ._clock import Clock, settle
from ._contract import STREAM_HEARTBEAT_INTERVAL_S, STREAM_PROTOCOL_MSGPACK
from ._encoding import Payload, decode, encode, excerpt
from ._error import BadAnswerError, ConnectionLostError, SpotwireError
from ._socket import Socket, dial

#: Longest time from dialling to the first message of the server.
_WELCOME_TIMEOUT_S = 15.0
#: Heartbeat intervals without any message after which a connection is dead, whatever the state of its socket.
_MUTE_AFTER_INTERVALS = 2.5
#: Length of the excerpt of an unreadable message.
_SHOWN_CHARACTERS = 80

ABNORMAL_CLOSE = 1006
NORMAL_CLOSE = 1000


@dataclass(frozen=True)
class Handshake:
    """The parameters of a connection."""

    protocols: Sequence[str]
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Ending:
    """How a connection ended."""

    code: int
    reason: str
    #: Set if it never opened or went silent: the rejection of the server, or why the server was not reached.
    error: SpotwireError | None = None
    #: Seconds since its welcome message; None without one.
    lived_s: float | None = None
    #: From ``server_shutdown``: reconnect at a random moment within this time.
    reconnect_within_s: float | None = None


class Connection:
    """Opens one connection and reads it until the server, the network or silence ends it."""

    def __init__(
        self,
        *,
        url: str,
        clock: Clock,
        ssl_context: ssl.SSLContext | None,
        on_welcome: Callable[[Any, Callable[[Any], Awaitable[None]]], bool],
        on_message: Callable[[Any], None],
        on_unreadable: Callable[[SpotwireError], None],
    ) -> None:
        self._url = url
        self._clock = clock
        self._ssl_context = ssl_context
        #: Returns False when the connection is no longer needed.
        self._on_welcome = on_welcome
        self._on_message = on_message
        #: Called for data that is not a valid message; the data is skipped.
        self._on_unreadable = on_unreadable
        self._socket: Socket | None = None
        self._welcome_at: float | None = None
        self._heard_at = clock.now()
        self._silence_s = _WELCOME_TIMEOUT_S
        #: The service reads messages in the encoding in which it sends them.
        self._packed = False

    async def run(self, handshake: Handshake) -> Ending:
        """Returns when the connection has ended: the result contains the failure. Cancelling it closes with 1000."""
        reader = asyncio.create_task(self._read(handshake))
        watcher = asyncio.create_task(self._watch())
        try:
            await asyncio.wait({reader, watcher}, return_when=asyncio.FIRST_COMPLETED)
            if reader.done():
                code, reason, error = self._read_result(reader)
            else:
                detail = f"No message from {self._url} for {self._silence_s:g} s."
                code, reason, error = ABNORMAL_CLOSE, "mute", ConnectionLostError(detail)
                if self._socket is not None:
                    self._socket.drop()
            return Ending(code, reason, error, self._lived_s())
        finally:
            await settle(reader, watcher)
            if self._socket is not None:
                await self._socket.close()

    def _lived_s(self) -> float | None:
        return None if self._welcome_at is None else self._clock.now() - self._welcome_at

    def _read_result(self, reader: asyncio.Task[tuple[int, str]]) -> tuple[int, str, SpotwireError | None]:
        raised = reader.exception()
        if raised is None:
            return (*reader.result(), None)
        return ABNORMAL_CLOSE, "", as_spotwire_error(raised, f"{self._url} broke")

    async def _read(self, handshake: Handshake) -> tuple[int, str]:
        self._socket = await dial(self._url, handshake.protocols, handshake.headers, self._ssl_context)
        packs = STREAM_PROTOCOL_MSGPACK in handshake.protocols
        async for payload in self._socket.payloads():
            # Nobody asked for bytes.
            if isinstance(payload, bytes) and not packs:
                continue
            self._heard_at = self._clock.now()
            try:
                if not self._take(payload):
                    return NORMAL_CLOSE, "closed by the client"
            except Exception as raised:
                error = BadAnswerError(f"Not a message: {excerpt(payload, _SHOWN_CHARACTERS)}")
                error.__cause__ = raised
                self._on_unreadable(error)
        return self._socket.end

    def _take(self, payload: Payload) -> bool:
        message = fields_of(decode(payload))
        if not isinstance(message.get("type"), str):
            raise TypeError("The message has no type.")
        if message["type"] != "welcome":
            self._on_message(message)
            return True
        self._welcome_at = self._heard_at
        interval_s = message.get("heartbeat_interval_s") or STREAM_HEARTBEAT_INTERVAL_S
        self._silence_s = interval_s * _MUTE_AFTER_INTERVALS
        self._packed = isinstance(payload, bytes)
        return self._on_welcome(message, self._send)

    async def _send(self, message: Any) -> None:
        assert self._socket is not None
        await self._socket.send(encode(message, packed=self._packed))

    async def _watch(self) -> None:
        """Returns when nothing was heard for too long."""
        while (left := self._heard_at + self._silence_s - self._clock.now()) > 0:
            await self._clock.wait(left)

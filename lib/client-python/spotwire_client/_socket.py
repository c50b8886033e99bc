"""WebSockets, over the API of websockets 13 and later or that of 10.4 to 12. Both read why a handshake was rejected."""

from __future__ import annotations

import asyncio
import ssl
from typing import Any, AsyncIterator, Mapping, Sequence

from websockets.exceptions import ConnectionClosed

from ._answers import as_spotwire_error, error_of_answer
from ._contract import USER_AGENT
from ._encoding import Payload
from ._error import NetworkError, SpotwireError

#: Longest body that is read of a rejection, which is one small envelope.
_REFUSAL_MAX_BYTES = 65_536
#: Longest wait for the other side to answer a close.
_CLOSE_TIMEOUT_S = 2.0
_ABNORMAL_CLOSE = 1006

#: Heartbeats of the service say whether a connection is alive, and the client's own clock limits the handshake.
_OPTIONS: dict[str, Any] = {
    "compression": None,
    "ping_interval": None,
    "open_timeout": None,
    "close_timeout": _CLOSE_TIMEOUT_S,
    "user_agent_header": USER_AGENT,
}


class _Refusal(Exception):
    """The response to a handshake that was not accepted."""

    def __init__(self, status: int, headers: Any, body: bytes) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status
        self.headers = headers
        self.body = body


try:
    from websockets.asyncio.client import connect as _connect
    from websockets.exceptions import InvalidStatus

    class _Connect(_connect):
        """A connection that does not follow redirects: they would send the key to another address."""

        def process_redirect(self, exc: Exception) -> Exception:
            return exc

    async def _open(url: str, protocols: Sequence[Any], headers: Mapping[str, str], **options: Any) -> Any:
        try:
            return await _Connect(url, subprotocols=protocols, additional_headers=headers, **_OPTIONS, **options)
        except InvalidStatus as refused:
            response = refused.response
            raise _Refusal(response.status_code, response.headers, bytes(response.body or b"")) from None

except ImportError:
    from websockets.legacy.client import WebSocketClientProtocol
    from websockets.legacy.client import connect as _legacy_connect

    class _Protocol(WebSocketClientProtocol):
        """Reads the body of a rejection too, and follows no redirect."""

        async def read_http_response(self) -> tuple[int, Any]:
            try:
                status, headers = await super().read_http_response()
                if status == 101:
                    return status, headers
                raise _Refusal(status, headers, await self._read_refusal(headers))
            except asyncio.CancelledError:
                # Else it would wait for the other side to close, which is what is being given up.
                self.transport.abort()
                raise

        async def _read_refusal(self, headers: Any) -> bytes:
            length = headers.get("content-length", "")
            wanted = min(int(length) if length.isdecimal() else _REFUSAL_MAX_BYTES, _REFUSAL_MAX_BYTES)
            body = b""
            while len(body) < wanted:
                chunk = await self.reader.read(wanted - len(body))
                if not chunk:
                    break
                body += chunk
            return body

    async def _open(url: str, protocols: Sequence[Any], headers: Mapping[str, str], **options: Any) -> Any:
        legacy: dict[str, Any] = {"create_protocol": _Protocol, **_OPTIONS, **options}
        return await _legacy_connect(url, subprotocols=protocols, extra_headers=headers, **legacy)


def _refused(url: str, refusal: _Refusal) -> SpotwireError:
    place = f"The handshake with {url}"
    if 300 <= refusal.status < 400:
        return NetworkError(f"{place} was redirected, and redirects are not followed.", status=refusal.status)
    return error_of_answer(refusal.status, refusal.headers.get, refusal.body, place)


class Socket:
    """An open connection."""

    #: The close code and reason, once ``payloads`` has ended.
    end: tuple[int, str] = (_ABNORMAL_CLOSE, "")

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def payloads(self) -> AsyncIterator[Payload]:
        """The texts and bytes received until the connection ends."""
        try:
            while True:
                yield await self._connection.recv()
        except ConnectionClosed as closed:
            if closed.rcvd is not None:
                self.end = (closed.rcvd.code, closed.rcvd.reason)

    async def send(self, payload: Payload) -> None:
        """Sends a text or bytes; nothing once the connection has ended, because its reader sees that."""
        try:
            await self._connection.send(payload)
        except ConnectionClosed:
            pass

    async def close(self) -> None:
        """Closes with 1000."""
        await self._connection.close()

    def drop(self) -> None:
        """Closes the connection without a close handshake, because the other side is gone."""
        self._connection.transport.abort()


async def dial(url: str, protocols: Sequence[str], headers: Mapping[str, str], ssl_context: ssl.SSLContext | None) -> Socket:
    """Opens a WebSocket. Raises the rejection of the server, or network_error when it was not reached."""
    options = {} if ssl_context is None else {"ssl": ssl_context}
    try:
        return Socket(await _open(url, protocols, headers, **options))
    except _Refusal as refusal:
        raise _refused(url, refusal) from None
    except asyncio.CancelledError:
        raise
    except Exception as raised:
        raise as_spotwire_error(raised, f"{url} could not be opened")

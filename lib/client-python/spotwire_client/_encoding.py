"""How the messages of a stream are written: JSON, or MessagePack with the package msgpack, which is needed here alone."""

from __future__ import annotations

import json
from typing import Any, Union

from ._answers import parse_json
from ._error import InvalidArgumentError

#: A text of JSON, or the bytes of MessagePack.
Payload = Union[str, bytes]


def require_msgpack() -> None:
    """Raises invalid_argument without the package msgpack."""
    try:
        import msgpack  # noqa: F401
    except ImportError as missing:
        raise InvalidArgumentError("message_pack needs msgpack: pip install msgpack") from missing


def decode(payload: Payload) -> Any:
    """The value of a message; None for one that cannot be read."""
    if isinstance(payload, str):
        return parse_json(payload)
    import msgpack

    try:
        return msgpack.unpackb(payload)
    except Exception:
        return None


def encode(message: Any, *, packed: bool) -> Payload:
    """A message in the encoding of its connection."""
    if not packed:
        return json.dumps(message)
    import msgpack

    data: bytes = msgpack.packb(message)
    return data


def excerpt(payload: Payload, characters: int) -> str:
    """What an unreadable message was, in an error."""
    return payload[:characters] if isinstance(payload, str) else f"{len(payload)} bytes"

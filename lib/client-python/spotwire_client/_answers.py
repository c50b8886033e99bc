"""Reads errors out of responses and messages."""

from __future__ import annotations

import json
import math
import re
from email.utils import parsedate_to_datetime
from typing import Any, Callable, Mapping

from ._error import BadAnswerError, NetworkError, SpotwireError
from ._service_errors import SERVICE_ERRORS

#: Reads a header of a response, for any transport.
ReadHeader = Callable[[str], "str | None"]


def parse_json(text: str | bytes) -> Any:
    """The value; None for invalid JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def fields_of(value: Any) -> Mapping[str, Any]:
    """An object with unknown fields, or an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def service_error(id: str, detail: str, **facts: Any) -> SpotwireError:
    """An error of the service, of its class if this version knows one."""
    return SERVICE_ERRORS.get(id, SpotwireError)(detail, id=id, **facts)


def _retry_after_of(header: ReadHeader) -> float | None:
    """Seconds of a Retry-After. A date counts from the Date header of the response, so that the clocks need not agree."""
    text = (header("retry-after") or "").strip()
    if re.fullmatch(r"[0-9]+", text):
        return float(text)
    try:
        seconds = (parsedate_to_datetime(text) - parsedate_to_datetime(header("date") or "")).total_seconds()
    except (TypeError, ValueError):
        return None
    return float(max(0, math.ceil(seconds)))


def error_of_answer(status: int, header: ReadHeader, text: str | bytes, place: str) -> SpotwireError:
    """The error of a failed response: from its envelope, or ``bad_answer`` when a proxy or another server sent it."""
    envelope = fields_of(parse_json(text))
    code, message, data = envelope.get("code"), envelope.get("message"), fields_of(envelope.get("data"))
    retry_after = _retry_after_of(header)
    facts: dict[str, Any] = {
        "status": status,
        "request_id": data.get("request_id") or header("x-request-id"),
        "retry_after": data.get("retry_after") if retry_after is None else retry_after,
    }
    if isinstance(code, int) and code != 0 and isinstance(message, str):
        return service_error(message, data.get("detail") or message, code=code, data=data, **facts)
    kind = header("content-type") or "without a type"
    return BadAnswerError(f"{place} returned {status} ({kind}), which is not a response of the service.", **facts)


def as_spotwire_error(raised: BaseException, detail: str) -> SpotwireError:
    """The error itself, or ``network_error`` with another one as its cause."""
    if isinstance(raised, SpotwireError):
        return raised
    error = NetworkError(f"{detail}: {str(raised) or type(raised).__name__}")
    error.__cause__ = raised
    return error

"""Checks what the caller passes, before anything is sent."""

from __future__ import annotations

import math
import re
import zlib
from datetime import date, datetime, timezone
from typing import Any, Iterable, Sequence
from urllib.parse import urlsplit

from ._contract import BASE62, KEY_CHECKSUM_CHARACTERS, KEY_RANDOM_CHARACTERS, TICKER_MAX_CHARACTERS
from ._error import InvalidArgumentError, InvalidKeyError

#: What ``from_``, ``to`` and ``at`` accept: Unix seconds, an aware datetime, a date (its midnight in UTC), or ISO 8601 text.
Instant = int | float | datetime | date | str

#: Each installation chooses what its keys start with.
_KEY_START = re.compile(r"[a-z][a-z0-9]{1,7}_(?:live|test)_")
_KEY_SHAPE = re.compile(rf"{_KEY_START.pattern}[0-9A-Za-z]{{{KEY_RANDOM_CHARACTERS + KEY_CHECKSUM_CHARACTERS}}}")


def check_base_url(text: str) -> str:
    """The address of a service without a slash at its end."""
    try:
        url = urlsplit(text)
        host = url.hostname
        _ = url.port
    except (AttributeError, TypeError, ValueError):
        host = None
    if not isinstance(text, str) or not host or url.scheme not in ("http", "https") or re.search(r"\s", text):
        raise InvalidArgumentError(
            f"base_url must be an http or https address, for example https://market.example.com, not {text}."
        )
    if "?" in text or "#" in text or "@" in url.netloc:
        raise InvalidArgumentError("base_url must not contain a query, a fragment or a password.")
    return text.rstrip("/")


def _checksum(text: str) -> str:
    """The last six characters of a key: the CRC-32 of everything before them, in base 62."""
    rest = zlib.crc32(text.encode())
    digits = ""
    for _ in range(KEY_CHECKSUM_CHARACTERS):
        rest, digit = divmod(rest, len(BASE62))
        digits = BASE62[digit] + digits
    return digits


def check_key(key: str) -> str:
    """A well-formed key; any other key is never sent. The error does not contain the key."""
    if isinstance(key, str) and _KEY_SHAPE.fullmatch(key):
        if _checksum(key[:-KEY_CHECKSUM_CHARACTERS]) == key[-KEY_CHECKSUM_CHARACTERS:]:
            return key
    if not isinstance(key, str) or key == "":
        raise InvalidKeyError("The key is empty.")
    if key != key.strip():
        raise InvalidKeyError("The key has spaces around it.")
    if _KEY_START.match(key):
        raise InvalidKeyError("The key is mistyped or truncated: its checksum does not match.")
    raise InvalidKeyError("A key starts with a prefix and _live_ or _test_, as sw_live_.")


def check_number(name: str, value: Any, least: float) -> Any:
    """A number from ``least`` up."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value >= least:
        return value
    raise InvalidArgumentError(f"{name} must be a number of at least {least}, not {value}.")


def check_list(name: str, values: Iterable[str], example: str) -> list[str]:
    """The values as a list of at least one; a single text is a mistake, because it is a list of letters."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidArgumentError(f'{name} must be a list, for example ["{example}"].')
    items = list(values)
    if not items or not all(isinstance(item, str) for item in items):
        raise InvalidArgumentError(f'{name} must be a list of at least one text, for example ["{example}"].')
    return items


def _normalise(ticker: str) -> str:
    """A ticker like the service reads it: trimmed, in upper case. The service validates it."""
    text = ticker.strip()
    if text == "":
        raise InvalidArgumentError("A ticker must be a non-empty text.")
    if len(text) > TICKER_MAX_CHARACTERS or "," in text:
        raise InvalidArgumentError(
            f"{text[:TICKER_MAX_CHARACTERS]} is not a ticker: use at most {TICKER_MAX_CHARACTERS} letters and digits."
        )
    return text.upper() if re.fullmatch(r"[A-Za-z0-9]+", text) else text


def check_tickers(tickers: Iterable[str]) -> Sequence[str]:
    """The tickers of a call, without duplicates, in the order given."""
    return list(dict.fromkeys(_normalise(ticker) for ticker in check_list("tickers", tickers, "EURUSD")))


def _aware(moment: datetime) -> datetime:
    # Also refuses NaT of pandas, which has no date.
    if moment.tzinfo is None or moment.utcoffset() is None:
        raise InvalidArgumentError(
            f"{moment} has no time zone. Use datetime(2026, 1, 1, tzinfo=timezone.utc), or text such as 2026-01-01T00:00:00Z."
        )
    return moment


def unix_seconds(instant: Instant | None) -> int | float | str | None:
    """Unix seconds of an instant, rounded up to a whole second; text is passed on, the service reads ISO 8601 too."""
    if isinstance(instant, datetime):
        return math.ceil(_aware(instant).timestamp())
    if isinstance(instant, date):
        return int(datetime(instant.year, instant.month, instant.day, tzinfo=timezone.utc).timestamp())
    if instant is None or isinstance(instant, (int, float, str)) and not isinstance(instant, bool):
        return instant
    raise InvalidArgumentError(f"A time is a datetime, a date, Unix seconds or ISO 8601 text, not {type(instant).__name__}.")


def unix_milliseconds(instant: Instant | None) -> int | str | None:
    """Unix milliseconds of an instant; text is passed on."""
    if isinstance(instant, datetime):
        return round(_aware(instant).timestamp() * 1_000)
    seconds = unix_seconds(instant)
    return round(seconds * 1_000) if isinstance(seconds, (int, float)) else seconds


def whole_seconds(instant: Instant) -> int | None:
    """Unix seconds of an instant, also of a text; None for a text that only the service can read or refuse."""
    seconds = unix_seconds(instant)
    if not isinstance(seconds, str):
        return None if seconds is None else math.ceil(seconds)
    try:
        moment = datetime.fromisoformat(seconds)
    except ValueError:
        return None
    return None if moment.tzinfo is None else math.ceil(moment.timestamp())


def whole_milliseconds(instant: Instant) -> int | None:
    """Unix milliseconds of an instant, also of a text; None for a text that only the service can read or refuse."""
    milliseconds = unix_milliseconds(instant)
    if not isinstance(milliseconds, str):
        return milliseconds
    try:
        moment = datetime.fromisoformat(milliseconds)
    except ValueError:
        return None
    return None if moment.tzinfo is None or moment.microsecond % 1_000 else round(moment.timestamp() * 1_000)


def iso_instant(instant: Instant | None) -> str | None:
    """ISO 8601 of an instant; text is passed on."""
    if instant is None or isinstance(instant, str):
        return instant
    if isinstance(instant, datetime):
        return _aware(instant).astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return iso_instant(datetime.fromtimestamp(float(unix_seconds(instant) or 0), tz=timezone.utc))

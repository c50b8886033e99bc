"""Sends requests and returns the ``data`` of their envelopes. All calls share one gate, so that a Retry-After holds all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Mapping
from urllib.parse import quote

import httpx

from ._answers import as_spotwire_error, error_of_answer, fields_of, parse_json
from ._clock import Clock, full_jitter, within
from ._contract import ENDPOINTS, USER_AGENT
from ._error import CallTimeoutError, InvalidKeyError, NetworkError, SpotwireError
from ._gate import Gate, RateLimit, read_rate_limit
from ._progress import Waits

_RETRY_BASE_S = 0.25
_RETRY_CAP_S = 5.0
#: Statuses of a gateway whose server is unavailable; the request may be repeated.
_GATEWAY_STATUSES = (429, 502, 503, 504)


@dataclass(frozen=True)
class RestOptions:
    """Address, credentials and limits of the requests."""

    base_url: str
    key: str | None
    clock: Clock
    random: Callable[[], float]
    timeout_s: float
    max_wait_s: float
    max_attempts: int
    max_queued_calls: int


def _text_of(value: Any) -> str:
    return ",".join(value) if isinstance(value, list) else str(value)


def _concerns_all(error: SpotwireError) -> bool:
    """Other calls also wait for a Retry-After; a ticker without a quote affects only its own call."""
    return error.retry_after is not None and error.status in (429, 503) and error.id not in ("market_data_not_ready", "quota_exceeded")


def _data_of(response: httpx.Response) -> Any:
    """The data of a successful envelope; None for anything else."""
    envelope = fields_of(parse_json(response.content))
    data = envelope.get("data")
    return data if response.is_success and envelope.get("code") == 0 and isinstance(data, (dict, list)) else None


def _bytes_of(response: httpx.Response) -> bytes | None:
    return response.content if response.is_success else None


class Rest:
    """The sender of requests."""

    rate_limit: RateLimit | None = None

    def __init__(self, options: RestOptions, http: httpx.AsyncClient) -> None:
        self._options = options
        self._http = http
        self.waits = Waits()
        self._gate = Gate(options.clock, options.max_queued_calls, self.waits.tell)

    async def call(self, operation: str, query: Mapping[str, Any], timeout_s: float | None) -> Any:
        """The data of the response to an operation. Parameters that are None are left out. Raises SpotwireError."""
        return await self._ask(*ENDPOINTS[operation], query, timeout_s, _data_of)

    async def download(self, id: str, query: Mapping[str, Any], timeout_s: float | None) -> bytes:
        """The bytes of a file. Parameters that are None are left out. Raises SpotwireError."""
        method, path = ENDPOINTS["file"]
        content: bytes = await self._ask(method, path.replace("{id}", quote(id, safe="")), query, timeout_s, _bytes_of)
        return content

    async def _ask(
        self, method: str, path: str, query: Mapping[str, Any], timeout_s: float | None, read: Callable[[httpx.Response], Any]
    ) -> Any:
        options = self._options
        if options.key is None:
            raise InvalidKeyError("This client has no key, so only streams work.")
        params = {name: _text_of(value) for name, value in query.items() if value is not None}
        deadline = options.clock.now() + options.max_wait_s
        tries = 1
        while True:
            leave = await self._gate.enter(deadline, first=tries > 1)
            try:
                timeout = options.timeout_s if timeout_s is None else timeout_s
                return await self._attempt(method, path, params, timeout, read)
            except SpotwireError as failure:
                held = _concerns_all(failure)
                if held:
                    self._gate.hold(failure)
                pause = self._pause_after(failure, method, tries)
                if pause is None or tries >= options.max_attempts or options.clock.now() + pause > deadline:
                    raise
                # The gate makes all calls wait.
                pause = 0 if held else pause
                reason = f"try {tries + 1} of {options.max_attempts}. {failure}"
            finally:
                leave()
            tries += 1
            if pause > 0:
                self.waits.tell(pause, reason)
                await options.clock.wait(pause)

    async def _attempt(
        self, method: str, path: str, params: Mapping[str, str], timeout_s: float, read: Callable[[httpx.Response], Any]
    ) -> Any:
        place = f"{method} {self._options.base_url}{path}"

        def late() -> SpotwireError:
            return CallTimeoutError(f"{place} got no response within {timeout_s:g} s.")

        try:
            return await within(self._options.clock, timeout_s, self._exchange(method, path, params, read), late)
        except Exception as raised:
            raise as_spotwire_error(raised, f"{place} got no response")

    async def _exchange(
        self, method: str, path: str, params: Mapping[str, str], read: Callable[[httpx.Response], Any]
    ) -> Any:
        headers = {"authorization": f"Bearer {self._options.key}", "user-agent": USER_AGENT}
        response = await self._http.request(method, self._options.base_url + path, params=params, headers=headers)
        if response.is_redirect:
            # Following it would send the key to another address.
            raise NetworkError(f"{method} {path} was redirected, and redirects are not followed.", status=response.status_code)
        self.rate_limit = read_rate_limit(response.headers.get) or self.rate_limit
        result = read(response)
        if result is not None:
            return result
        raise error_of_answer(response.status_code, response.headers.get, response.content, f"{method} {path}")

    def _pause_after(self, error: SpotwireError, method: str, tries: int) -> float | None:
        """Seconds to wait before a retry of the same request; None for no retry."""
        if error.status in (429, 503) and error.retry_after is not None:
            return error.retry_after
        unanswered = error.id in ("network_error", "timeout") or error.status in _GATEWAY_STATUSES
        # A repeated POST could be executed twice.
        if not unanswered or method != "GET":
            return None
        return full_jitter(self._options.random, tries - 1, _RETRY_BASE_S, _RETRY_CAP_S)

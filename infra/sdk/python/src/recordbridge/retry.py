"""Repeats requests that failed for a moment."""

import random
from collections.abc import Callable

import httpx

# Statuses after which the same request can succeed.
TRANSIENT = frozenset({429, 500, 502, 503, 504})

# Seconds. Above it, the caller decides whether to wait.
MAX_RETRY_AFTER = 120

# Waits for a number of seconds. Tests replace it.
Wait = Callable[[float], None]


class Retrying(httpx.BaseTransport):
    """Repeats requests after network failures and transient statuses.

    It suits every operation of the API, because all of them are idempotent. A response that requests a pause above
    MAX_RETRY_AFTER is returned at once.
    """

    def __init__(self, attempts: int, wait: Wait) -> None:
        self._inner = httpx.HTTPTransport()
        self._attempts = attempts
        self._wait = wait

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        for attempt in range(1, self._attempts):
            retry_after = None
            try:
                response = self._inner.handle_request(request)
                if response.status_code not in TRANSIENT:
                    return response
                retry_after = response.headers.get("retry-after")
                if delay(attempt, retry_after) > MAX_RETRY_AFTER:
                    return response
                response.close()
            except httpx.UnsupportedProtocol:
                raise
            except httpx.TransportError:
                pass
            self._wait(delay(attempt, retry_after))
        return self._inner.handle_request(request)

    def close(self) -> None:
        self._inner.close()


def delay(attempt: int, retry_after: str | None = None) -> float:
    """Returns the pause before the next attempt in seconds.

    It is the time that the server requests, or else 0.5 to 1 s, doubled per attempt.
    """
    if retry_after is not None and retry_after.isascii() and retry_after.isdigit():
        return float(retry_after)
    return min(0.5 * 2 ** (attempt - 1), 16.0) * (1 + random.random())

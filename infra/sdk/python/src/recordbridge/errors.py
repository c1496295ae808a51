"""Errors of the SDK."""

import httpx


class RecordbridgeError(Exception):
    """A rejected request: the API's error code, description and request ID.

    The code and the request ID are empty if the response isn't the API's.
    """

    def __init__(self, code: str, message: str, status: int, request_id: str) -> None:
        super().__init__(code, message, status, request_id)  # all arguments, so that it can be pickled
        self.code = code
        self.message = message
        self.status = status
        self.request_id = request_id

    def __str__(self) -> str:
        return self.message


class FileMismatch(Exception):
    """A downloaded file differs from the exported one. Discard the data, and download the file again."""


class InvalidManifest(Exception):
    """An export's manifest is missing, isn't signed by the service, or belongs to another export."""


def refusal(response: httpx.Response) -> RecordbridgeError:
    """Returns the error in a response whose body was read."""
    try:
        body = response.json()
    except ValueError:
        body = None
    if not isinstance(body, dict):
        body = {}
    message = body.get("error_description", f"the server responded with status {response.status_code}")
    return RecordbridgeError(body.get("error", ""), message, response.status_code, body.get("request_id", ""))

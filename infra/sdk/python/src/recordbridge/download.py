"""Downloads exported files."""

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx

from .errors import DigestMismatch, refusal
from .retry import Wait, delay

# Gets the number of bytes that have been read, and the file's size if it is known.
Progress = Callable[[int, int | None], None]


@dataclass(frozen=True)
class File:
    """A file to download: a link of the success event or of an export's result."""

    url: str
    export_type: str = ""
    # SHA-256 in hex, from files of an export's result. Checked if present.
    sha256: str | None = None
    # The size, for the progress.
    bytes: int | None = None


def read_bytes(
    client: httpx.Client, attempts: int, wait: Wait, file: File, on_progress: Progress | None
) -> Iterator[bytes]:
    """Yields a file's bytes. If the connection breaks, it continues behind the last byte."""
    digest = hashlib.sha256()
    read = 0
    attempt = 1
    while True:
        # Each request gets a new redirect to the file, which expires after ten minutes.
        headers = {"range": f"bytes={read}-"} if read else {}
        response = client.send(client.build_request("GET", file.url, headers=headers), stream=True)
        try:
            if response.status_code != (206 if read else 200):
                response.read()
                raise refusal(response)
            for chunk in response.iter_raw():
                read += len(chunk)
                attempt = 1
                digest.update(chunk)
                if on_progress is not None:
                    on_progress(read, file.bytes)
                yield chunk
            break
        except httpx.TransportError:
            if attempt >= attempts:
                raise
        finally:
            response.close()
        wait(delay(attempt))
        attempt += 1
    if file.sha256 is not None and digest.hexdigest() != file.sha256:
        raise DigestMismatch(f"the file's SHA-256 is {digest.hexdigest()}, not {file.sha256}")


def read_resources(chunks: Iterator[bytes]) -> Iterator[dict[str, Any]]:
    """Yields the resources of an NDJSON file, one per line."""
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (json.loads(line) for line in lines if line)
    if rest:
        yield json.loads(rest)

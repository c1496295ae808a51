"""Downloads exported files."""

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx

from .errors import FileMismatch, RecordbridgeError, refusal
from .retry import Wait, delay

# Gets the number of bytes that have been read, and the file's size if it is known.
Progress = Callable[[int, int | None], None]


@dataclass(frozen=True)
class File:
    """A file to download: a link of the success event or of an export's result.

    sha256 is in hex. Downloads check bytes and sha256, and resources() checks resources, unless they are None.
    """

    url: str
    export_type: str = ""
    sha256: str | None = None
    bytes: int | None = None
    name: str = ""
    # The number of resources, which verified_files() sets.
    resources: int | None = None


def read_bytes(
    client: httpx.Client, attempts: int, wait: Wait, file: File, on_progress: Progress | None
) -> Iterator[bytes]:
    """Yields a file's bytes. If the connection breaks, it continues after the last byte."""
    digest = hashlib.sha256()
    read = 0
    attempt = 1
    while True:
        response = _open(client, file.url, read)
        try:
            for chunk in response.iter_raw():
                read += len(chunk)
                attempt = 1
                digest.update(chunk)
                if on_progress is not None:
                    on_progress(read, file.bytes)
                yield chunk
                if file.bytes is not None and read > file.bytes:
                    break
            break
        except httpx.TransportError:
            if attempt >= attempts:
                raise
        finally:
            response.close()
        wait(delay(attempt))
        attempt += 1
    if file.bytes is not None and read != file.bytes:
        raise FileMismatch(f"the file has {read} bytes, not {file.bytes}")
    if file.sha256 is not None and digest.hexdigest() != file.sha256:
        raise FileMismatch(f"the file's SHA-256 is {digest.hexdigest()}, not {file.sha256}")


def _open(client: httpx.Client, url: str, read: int) -> httpx.Response:
    """Requests the rest of the file. Each request gets a new redirect to the file, which expires after ten minutes.

    The client repeats failed requests itself.
    """
    headers = {"range": f"bytes={read}-"} if read else {}
    response = client.send(client.build_request("GET", url, headers=headers), stream=True)
    try:
        if response.status_code != (206 if read else 200):
            response.read()
            raise refusal(response)
        sent = response.headers.get("content-range", "")
        if read and not sent.startswith(f"bytes {read}-"):
            message = f"the download can't be resumed at byte {read}: the server sent {sent!r}"
            raise RecordbridgeError("", message, response.status_code, "")
    except BaseException:
        response.close()
        raise
    return response


def read_resources(chunks: Iterator[bytes], expected: int | None) -> Iterator[dict[str, Any]]:
    """Yields the resources of an NDJSON file, one per line, and checks their number unless it is None."""
    count = 0
    for line in _lines(chunks):
        yield json.loads(line)
        count += 1
    if expected is not None and count != expected:
        raise FileMismatch(f"the file has {count} resources, not {expected}")


def _lines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yields the lines that aren't empty. A line can have many chunks, so they are joined only once."""
    parts: list[bytes] = []
    for chunk in chunks:
        first, *others = chunk.split(b"\n")
        parts.append(first)
        for part in others:
            if line := b"".join(parts):
                yield line
            parts = [part]
    if line := b"".join(parts):
        yield line

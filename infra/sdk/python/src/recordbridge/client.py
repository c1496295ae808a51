"""A client of the backend's API."""

import base64
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Self
from uuid import UUID

import httpx

from .api import AuthenticatedClient
from .api.api.connection import delete_connection, get_connection
from .api.api.export import create_export, delete_export_files, get_export
from .api.models import (
    CreateExportRequest,
    EventType,
    GetExportInclude,
    PortalConnection,
    Task,
    TaskWithResult,
    TefcaNetworkConnection,
)
from .download import File, Progress, read_bytes, read_resources
from .errors import InvalidManifest, refusal
from .manifest import Manifest, verify_manifest
from .retry import Retrying, Wait
from .webhooks import Event, event_from

# The limit of a manifest's and of a JWK Set's size.
MAX_MANIFEST = 1 << 20

# A connection: through a portal or with a TEFCA facility.
Connection = PortalConnection | TefcaNetworkConnection


class Recordbridge:
    """A client of the backend's API. Its methods raise RecordbridgeError if the API rejects a request.

    base_url is the API's base URL, such as https://api.example.com/v1. attempts is the number of times that a request
    is sent at most. wait pauses between attempts; tests replace it. A client can be used by several threads.
    """

    def __init__(
        self, base_url: str, public_id: str, private_key: str, *, attempts: int = 5, wait: Wait = time.sleep
    ) -> None:
        self._base_url = base_url.rstrip("/")
        pair = base64.b64encode(f"{public_id}:{private_key}".encode()).decode()
        self._api = AuthenticatedClient(
            base_url=self._base_url,
            token=pair,
            prefix="Basic",
            timeout=httpx.Timeout(30),
            httpx_args={"transport": Retrying(attempts, wait), "event_hooks": {"response": [_reject]}},
        )
        self._api.get_httpx_client()  # creates the HTTP client, which several threads can't do at once
        # Links carry a token of their own, so downloads don't send the key pair. Ranges are of the plain file.
        self._files = httpx.Client(
            transport=Retrying(attempts, wait),
            timeout=httpx.Timeout(30),
            follow_redirects=True,
            headers={"accept-encoding": "identity"},
        )
        self._attempts = attempts
        self._wait = wait

    def close(self) -> None:
        """Closes the client's connections."""
        self._api.get_httpx_client().close()
        self._files.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def get_connection(self, org_connection_id: UUID | str) -> Connection:
        """Returns a connection."""
        return _data(get_connection.sync_detailed(_uuid(org_connection_id), client=self._api))

    def disconnect(self, org_connection_id: UUID | str) -> Connection:
        """Revokes a connection and deletes its exports' files."""
        return _data(delete_connection.sync_detailed(_uuid(org_connection_id), client=self._api))

    def create_export(self, request: CreateExportRequest) -> Task:
        """Requests an export. A pending export of the connection is returned again."""
        return _data(create_export.sync_detailed(client=self._api, body=request))

    def get_export(self, task_id: str) -> TaskWithResult:
        """Returns an export's status and, once it has ended, its result."""
        return _data(get_export.sync_detailed(task_id, client=self._api, include=GetExportInclude.RESULT))

    def delete_files(self, task_id: str) -> None:
        """Deletes an export's files."""
        _data(delete_export_files.sync_detailed(task_id, client=self._api))

    def events(
        self, after: str | None = None, types: Sequence[EventType | str] | None = None
    ) -> Iterator[tuple[Event, str | None]]:
        """Yields the events after a cursor, oldest first, each with the cursor to continue after it.

        It ends with the newest event, so call it again later. Without a cursor, it starts with the oldest event, which
        is up to 15 days old.
        """
        more = True
        while more:
            params: dict[str, Any] = {"limit": 500}
            if after is not None:
                params["after"] = after
            if types is not None:
                # The generated client repeats the parameter, but the API reads a list as one, with commas.
                params["types"] = ",".join(map(str, types))
            page = self._api.get_httpx_client().get("/bridge/events", params=params).json()["data"]
            # Only the page's last event has a cursor of its own; the others repeat the page if reading stops there.
            last = len(page["events"]) - 1
            for i, event in enumerate(page["events"]):
                yield event_from(event), page["after"] if i == last else after
            after, more = page["after"], page["has_more"]

    def files(self, task_id: str) -> list[File]:
        """Returns the files of a successful export, with their digests."""
        return _files_of(self.get_export(task_id))

    def manifest(self, task_id: str) -> Manifest:
        """Downloads and verifies the manifest of a successful export.

        Raises InvalidManifest if the export has no manifest or the manifest can't be verified.
        """
        return self._manifest_of(task_id, self.get_export(task_id))

    def verified_files(self, task_id: str) -> list[File]:
        """Returns the files of a successful export as its verified manifest describes them.

        download() and resources() then raise FileMismatch unless a file matches the manifest. Raises InvalidManifest if
        the export's files and the manifest's differ.
        """
        result = self.get_export(task_id)
        listed = {one.name: one for one in self._manifest_of(task_id, result).files}
        files = _files_of(result)
        if sorted(listed) != sorted(file.name for file in files):
            raise InvalidManifest("the manifest lists other files than the export")
        found = []
        for file in files:
            one = listed[file.name]
            found.append(replace(file, sha256=one.sha256, bytes=one.bytes, resources=one.resources))
        return found

    def download(self, file: File, on_progress: Progress | None = None) -> Iterator[bytes]:
        """Yields a file's bytes. A broken connection is resumed after the last byte.

        If the size or the SHA-256 differs from the file's, it raises FileMismatch after the last byte.
        """
        return read_bytes(self._files, self._attempts, self._wait, file, on_progress)

    def resources(self, file: File, on_progress: Progress | None = None) -> Iterator[dict[str, Any]]:
        """Yields the FHIR resources of a jsonl file while it is downloaded. See download."""
        return read_resources(self.download(file, on_progress), file.resources)

    def _manifest_of(self, task_id: str, result: TaskWithResult) -> Manifest:
        if not result.manifest:
            raise InvalidManifest("the export has no manifest")
        content = self._small(result.manifest.url)
        try:
            key_set = json.loads(self._small(f"{self._base_url}/.well-known/manifest-jwks.json"))
        except ValueError as error:
            raise InvalidManifest("the JWK Set isn't JSON") from error
        manifest = verify_manifest(content, result.manifest.signature, key_set)
        if manifest.task_id != task_id:
            raise InvalidManifest(f"the manifest belongs to the export {manifest.task_id!r}")
        return manifest

    def _small(self, url: str) -> bytes:
        """Downloads a file of at most MAX_MANIFEST bytes."""
        content = bytearray()
        for chunk in self.download(File(url)):
            content += chunk
            if len(content) > MAX_MANIFEST:
                raise InvalidManifest(f"the download is larger than {MAX_MANIFEST} bytes")
        return bytes(content)


def _files_of(result: TaskWithResult) -> list[File]:
    summaries = {one.export_type.value: one for one in result.files or ()}
    found = []
    for link in result.download_links or ():
        kind = link.export_type.value
        one = summaries.get(kind)
        found.append(File(link.url, kind, one.sha256, one.bytes_, one.file_name) if one else File(link.url, kind))
    return found


def _uuid(value: UUID | str) -> UUID:
    return value if isinstance(value, UUID) else UUID(value)


def _reject(response: httpx.Response) -> None:
    """Raises the error of a response that isn't successful."""
    if not response.is_success:
        response.read()
        raise refusal(response)


def _data(response: Any) -> Any:
    """Returns a successful response's data."""
    return response.parsed.data

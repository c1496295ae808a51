"""Server SDK of Recordbridge. Use it only in a backend, because it holds the private key."""

from .api.models import (
    CreateExportRequest,
    EventType,
    ExportFailureEvent,
    ExportSuccessEvent,
    PortalConnection,
    Task,
    TaskStatus,
    TaskWithResult,
    TefcaNetworkConnection,
)
from .client import Connection, Recordbridge
from .download import File, Progress
from .errors import FileMismatch, InvalidManifest, RecordbridgeError
from .manifest import Manifest, ManifestFile, verify_manifest
from .webhooks import Event, UnknownEvent, verify_webhook

__all__ = (
    "Connection",
    "CreateExportRequest",
    "Event",
    "EventType",
    "ExportFailureEvent",
    "ExportSuccessEvent",
    "File",
    "FileMismatch",
    "InvalidManifest",
    "Manifest",
    "ManifestFile",
    "PortalConnection",
    "Progress",
    "Recordbridge",
    "RecordbridgeError",
    "Task",
    "TaskStatus",
    "TaskWithResult",
    "TefcaNetworkConnection",
    "UnknownEvent",
    "verify_manifest",
    "verify_webhook",
)

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
from .download import File
from .errors import DigestMismatch, RecordbridgeError
from .webhooks import Event, UnknownEvent, verify_webhook

__all__ = (
    "Connection",
    "CreateExportRequest",
    "DigestMismatch",
    "Event",
    "EventType",
    "ExportFailureEvent",
    "ExportSuccessEvent",
    "File",
    "PortalConnection",
    "Recordbridge",
    "RecordbridgeError",
    "Task",
    "TaskStatus",
    "TaskWithResult",
    "TefcaNetworkConnection",
    "UnknownEvent",
    "verify_webhook",
)

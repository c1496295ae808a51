"""Verifies webhooks and reads their events."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from standardwebhooks import Webhook
from standardwebhooks.webhooks import WebhookVerificationError

from .api import models


@dataclass(frozen=True)
class UnknownEvent:
    """An event of a type, or with data, that this version of the SDK can't read."""

    type_: str
    body: Mapping[str, Any]


# An event. Its class depends on its type.
Event = (
    models.AuthorizationExpiringEvent
    | models.AuthorizationRevokedEvent
    | models.ConnectionFailureEvent
    | models.ConnectionSuccessEvent
    | models.ExportFailureEvent
    | models.ExportProgressEvent
    | models.ExportSuccessEvent
    | models.HealthSystemRequestEvent
    | models.SupportRequestEvent
    | models.TestEvent
    | UnknownEvent
)

_BY_TYPE: Mapping[str, Any] = {
    "patient.authorization_expiring": models.AuthorizationExpiringEvent,
    "patient.authorization_revoked": models.AuthorizationRevokedEvent,
    "patient.connection_failed": models.ConnectionFailureEvent,
    "patient.connection_success": models.ConnectionSuccessEvent,
    "patient.ehi_export_failed": models.ExportFailureEvent,
    "patient.ehi_export_progress": models.ExportProgressEvent,
    "patient.ehi_export_success": models.ExportSuccessEvent,
    "patient.request_health_system": models.HealthSystemRequestEvent,
    "patient.request_support": models.SupportRequestEvent,
    "webhook.test": models.TestEvent,
}


def verify_webhook(body: bytes | str, headers: Mapping[str, str], secret: str) -> Event:
    """Verifies a webhook request and returns its event. Pass the body as received, before any JSON parser.

    Raises WebhookVerificationError of standardwebhooks if no signature is valid or the request is older than five
    minutes.
    """
    webhook = Webhook(secret)
    try:
        webhook.verify(body, dict(headers.items()), json_parse=False)
    except ValueError as error:  # for a header or a body that the library can't decode
        raise WebhookVerificationError("Invalid Signature Headers") from error
    return event_from(json.loads(body))


def event_from(body: Mapping[str, Any]) -> Event:
    """Returns the typed event of a body."""
    model = _BY_TYPE.get(body["type"])
    if model is not None:
        try:
            event: Event = model.from_dict(body)
            return event
        except (AttributeError, KeyError, TypeError, ValueError):  # a value that a later version of the API added
            pass
    return UnknownEvent(body["type"], body)

import base64
import datetime
import json
import unittest

from recordbridge import ExportFailureEvent, UnknownEvent, verify_webhook
from recordbridge.api.models import EventType
from standardwebhooks import Webhook, WebhookVerificationError

from serving import Handler, client_of, serve

SECRET = "whsec_" + base64.b64encode(b"\7" * 32).decode()
ID = "00000000-0000-4000-8000-000000000001"


def body_of(kind: str) -> bytes:
    data = {"task_id": "t", "org_connection_id": ID, "org_id": ID, "failure_reason": "token_refresh_failure"}
    return json.dumps(
        {"api_mode": "test", "id": ID, "date": "2026-01-01T00:00:00Z", "type": kind, "data": data}
    ).encode()


BODY = body_of("patient.ehi_export_failed")


def headers(body: bytes = BODY, minutes: int = 0) -> dict[str, str]:
    at = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(minutes=minutes)
    signature = Webhook(SECRET).sign("e", at, body.decode())
    return {"Webhook-Id": "e", "Webhook-Timestamp": str(int(at.timestamp())), "Webhook-Signature": signature}


class WebhookTest(unittest.TestCase):
    def test_signed_event_is_returned_with_its_type(self) -> None:
        event = verify_webhook(BODY, headers(), SECRET)
        assert isinstance(event, ExportFailureEvent)
        self.assertEqual((event.data.task_id, event.type_), ("t", "patient.ehi_export_failed"))

    def test_event_of_later_type_is_returned(self) -> None:
        body = body_of("patient.later")
        self.assertEqual(verify_webhook(body, headers(body), SECRET), UnknownEvent("patient.later", json.loads(body)))

    def test_every_event_type_has_a_class(self) -> None:
        from recordbridge.webhooks import _BY_TYPE

        self.assertEqual(set(_BY_TYPE), {one.value for one in EventType})

    def test_changed_body_other_secret_and_old_request_are_rejected(self) -> None:
        other = "whsec_" + base64.b64encode(b"\10" * 32).decode()
        malformed = headers() | {"Webhook-Signature": "malformed"}
        for body, given, secret in (
            (BODY + b" ", headers(), SECRET),
            (BODY, headers(), other),
            (BODY, headers(minutes=10), SECRET),
            (BODY, {}, SECRET),
            (BODY, malformed, SECRET),
            (b"\xff", headers(), SECRET),
        ):
            with self.subTest(body=body, given=given), self.assertRaises(WebhookVerificationError):
                verify_webhook(body, given, secret)

    def test_events_of_feed_have_their_type(self) -> None:
        def handle(request: Handler) -> None:
            data = {"events": [json.loads(BODY)], "after": "cursor", "has_more": False}
            request.answer(200, {"success": True, "data": data})

        client, _ = client_of(self, serve(self, handle))
        [(event, after)] = client.events()
        self.assertIsInstance(event, ExportFailureEvent)
        self.assertEqual(after, "cursor")


if __name__ == "__main__":
    unittest.main()

import base64
import pickle
import unittest
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

from recordbridge import CreateExportRequest, EventType, PortalConnection, RecordbridgeError, TaskStatus, UnknownEvent

from serving import Handler, client_of, serve

ID = "00000000-0000-4000-8000-000000000001"
CONNECTION = {
    "kind": "portal",
    "org_connection_id": ID,
    "org_id": ID,
    "platform_type": "epic",
    "api_mode": "test",
    "status": "authorized",
    "catalog_brand_id": ID,
    "catalog_portal_id": ID,
    "catalog_endpoint_id": ID,
}
PENDING = {"success": True, "data": {"task_id": "t", "status": "pending"}}


class ClientTest(unittest.TestCase):
    def test_request_has_key_pair_and_returns_data(self) -> None:
        seen = []

        def handle(request: Handler) -> None:
            seen.append((request.command, request.path, request.headers["authorization"]))
            request.answer(200, {"success": True, "data": CONNECTION})

        client, _ = client_of(self, serve(self, handle))
        for connection in (client.get_connection(ID), client.disconnect(UUID(ID))):
            self.assertIsInstance(connection, PortalConnection)
            self.assertEqual(connection.to_dict(), CONNECTION)
        path, pair = f"/bridge/org_connection/{ID}", "Basic " + base64.b64encode(b"public_test_1:key").decode()
        self.assertEqual(seen, [("GET", path, pair), ("DELETE", path, pair)])

    def test_files_are_deleted(self) -> None:
        seen = []

        def handle(request: Handler) -> None:
            seen.append((request.command, request.path))
            request.answer(200, PENDING)

        client_of(self, serve(self, handle))[0].delete_files("t/1")
        self.assertEqual(seen, [("DELETE", "/bridge/fhir/ehi-export/t%2F1/files")])

    def test_rejected_request_raises_error_of_api(self) -> None:
        failure = {"success": False, "error": "svc_not_found", "error_description": "Not found.", "request_id": "r"}
        client, _ = client_of(self, serve(self, lambda request: request.answer(404, failure)))
        with self.assertRaises(RecordbridgeError) as caught:
            client.get_export("t")
        error = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual(
            (error.code, str(error), error.status, error.request_id), ("svc_not_found", "Not found.", 404, "r")
        )

    def test_rejected_request_without_json_raises_status(self) -> None:
        client, _ = client_of(self, serve(self, lambda request: request.answer(403, b"<html>")))
        with self.assertRaises(RecordbridgeError) as caught:
            next(client.events())
        self.assertEqual((caught.exception.code, caught.exception.status), ("", 403))

    def test_transient_failure_is_repeated_after_requested_time(self) -> None:
        def handle(request: Handler) -> None:
            if request.count == 0:
                request.answer(429, {}, {"retry-after": "3"})
            elif request.count == 1:
                request.close_connection = True
            elif request.count == 2:
                request.answer(500, {})
            else:
                request.answer(200, PENDING)

        client, pauses = client_of(self, serve(self, handle))
        self.assertIs(client.create_export(CreateExportRequest(org_connection_id=UUID(ID))).status, TaskStatus.PENDING)
        self.assertEqual((len(pauses), pauses[0]), (3, 3))
        self.assertTrue(1 <= pauses[1] < 2)

    def test_lasting_failure_is_raised_after_five_attempts(self) -> None:
        failure = {"error": "svc_unavailable", "error_description": "Busy."}
        client, pauses = client_of(self, serve(self, lambda request: request.answer(503, failure)))
        with self.assertRaises(RecordbridgeError) as caught:
            client.get_export("t")
        self.assertEqual((caught.exception.code, caught.exception.status, len(pauses)), ("svc_unavailable", 503, 4))

    def test_failure_is_raised_at_once_if_requested_pause_is_too_long(self) -> None:
        failure = {"error": "svc_rate_limited", "error_description": "Wait."}
        client, pauses = client_of(
            self, serve(self, lambda request: request.answer(429, failure, {"retry-after": "121"}))
        )
        with self.assertRaises(RecordbridgeError) as caught:
            client.get_export("t")
        self.assertEqual((caught.exception.code, pauses), ("svc_rate_limited", []))

    def test_events_are_read_page_by_page(self) -> None:
        asked = []

        def handle(request: Handler) -> None:
            query = parse_qs(urlsplit(request.path).query)
            asked.append((query["after"], query["types"]))
            events = (
                []
                if request.count == 1
                else [{"id": f"{request.count}{part}", "type": "webhook.later"} for part in "ab"]
            )
            data = {"events": events, "after": f"cursor{request.count}", "has_more": request.count < 2}
            request.answer(200, {"success": True, "data": data})

        client, _ = client_of(self, serve(self, handle))
        found = []
        for event, after in client.events("start", [EventType.WEBHOOK_TEST, "patient.ehi_export_success"]):
            assert isinstance(event, UnknownEvent)
            found.append((event.body["id"], after))
        types = ["webhook.test,patient.ehi_export_success"]
        self.assertEqual(asked, [(["start"], types), (["cursor0"], types), (["cursor1"], types)])
        self.assertEqual(found, [("0a", "start"), ("0b", "cursor0"), ("2a", "cursor1"), ("2b", "cursor2")])


if __name__ == "__main__":
    unittest.main()

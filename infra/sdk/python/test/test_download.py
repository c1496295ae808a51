import hashlib
import json
import re
import unittest

import httpx
from recordbridge import File, FileMismatch, RecordbridgeError

from serving import Handler, client_of, serve

TEXT = "".join(
    json.dumps({"resourceType": "Patient", "id": id, "note": "ñ→"}, ensure_ascii=False, separators=(",", ":")) + "\n"
    for id in "123"
)
BYTES = TEXT.encode()
SHA256 = hashlib.sha256(BYTES).hexdigest()


class DownloadTest(unittest.TestCase):
    def test_download_is_resumed_after_last_byte(self) -> None:
        ranges = []

        def handle(request: Handler) -> None:
            self.assertNotIn("authorization", request.headers)
            if request.path == "/link":
                request.answer(302, b"", {"location": f"/file{request.count}"})
                return
            ranges.append(request.headers["range"])
            match = re.fullmatch(r"bytes=(\d+)-", request.headers["range"] or "")
            start = int(match[1]) if match else 0
            part = BYTES[start : start + 50]  # the cuts split lines and characters
            headers = {"content-length": str(len(BYTES) - start)}
            if start:
                headers["content-range"] = f"bytes {start}-{len(BYTES) - 1}/{len(BYTES)}"
            request.answer(206 if start else 200, part, headers)
            request.close_connection = True

        base = serve(self, handle)
        client, _ = client_of(self, base)
        seen = []
        file = File(f"{base}/link", sha256=SHA256, bytes=len(BYTES))
        found = list(client.resources(file, lambda read, total: seen.append((read, total))))
        self.assertEqual([(one["id"], one["note"]) for one in found], [("1", "ñ→"), ("2", "ñ→"), ("3", "ñ→")])
        self.assertEqual(len(BYTES), 153)
        self.assertEqual(ranges, [None, "bytes=50-", "bytes=100-", "bytes=150-"])
        self.assertEqual(seen[-1], (153, 153))

    def test_download_that_always_breaks_is_raised_after_five_attempts(self) -> None:
        def handle(request: Handler) -> None:
            request.answer(200, b"", {"content-length": "10"})
            request.close_connection = True

        base = serve(self, handle)
        client, pauses = client_of(self, base)
        with self.assertRaises(httpx.RemoteProtocolError):
            list(client.download(File(base)))
        self.assertEqual(len(pauses), 4)

    def test_download_from_unreachable_server_is_raised_after_five_attempts(self) -> None:
        counts = []

        def handle(request: Handler) -> None:
            counts.append(request.count)
            request.close_connection = True

        base = serve(self, handle)
        client, pauses = client_of(self, base)
        with self.assertRaises(httpx.RemoteProtocolError):
            list(client.download(File(base)))
        self.assertEqual((len(counts), len(pauses)), (5, 4))

    def test_other_range_is_not_appended(self) -> None:
        def handle(request: Handler) -> None:
            headers = {"content-length": str(len(BYTES))}
            if request.count:
                headers["content-range"] = f"bytes 0-{len(BYTES) - 1}/{len(BYTES)}"
            request.answer(206 if request.count else 200, BYTES[:50], headers)
            request.close_connection = True

        base = serve(self, handle)
        client, _ = client_of(self, base)
        with self.assertRaisesRegex(RecordbridgeError, "can't be resumed at byte 50"):
            list(client.download(File(base)))

    def test_invalid_url_is_raised_at_once(self) -> None:
        client, pauses = client_of(self, "http://127.0.0.1:1")
        with self.assertRaises(httpx.UnsupportedProtocol):
            list(client.download(File("ftp://127.0.0.1/file")))
        self.assertEqual(pauses, [])

    def test_other_digest_raises_after_last_resource(self) -> None:
        base = serve(self, lambda request: request.answer(200, BYTES))
        client, _ = client_of(self, base)
        found = []
        with self.assertRaises(FileMismatch):
            for one in client.resources(File(base, sha256="0" * 64)):
                found.append(one)
        self.assertEqual(len(found), 3)

    def test_expired_link_raises_error_of_api_at_once(self) -> None:
        body = {"error": "svc_export_expired", "error_description": "The files of this export have been deleted."}
        base = serve(self, lambda request: request.answer(410, body))
        client, pauses = client_of(self, base)
        with self.assertRaises(RecordbridgeError) as caught:
            list(client.download(File(base)))
        self.assertEqual((caught.exception.code, caught.exception.status, pauses), ("svc_export_expired", 410, []))

    def test_files_of_export_have_digest_of_their_format(self) -> None:
        result = {
            "task_id": "t",
            "status": "success",
            "download_links": [
                {"url": "u1", "export_type": "jsonl", "content_type": "c"},
                {"url": "u2", "export_type": "fhir_bundle", "content_type": "c"},
            ],
            "files": [
                {"file_name": "b", "export_type": "fhir_bundle", "bytes": 2, "sha256": "b"},
                {"file_name": "a", "export_type": "jsonl", "bytes": 1, "sha256": "a"},
            ],
        }
        client, _ = client_of(self, serve(self, lambda request: request.answer(200, {"success": True, "data": result})))
        self.assertEqual(client.files("t"), [File("u1", "jsonl", "a", 1, "a"), File("u2", "fhir_bundle", "b", 2, "b")])


if __name__ == "__main__":
    unittest.main()

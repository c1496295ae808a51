"""Servers and clients of the tests."""

import json
import threading
import unittest
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from recordbridge import Recordbridge


class Handler(BaseHTTPRequestHandler):
    """A request. count is the number of earlier requests."""

    count: int

    def answer(self, status: int, body: object, headers: dict[str, str] | None = None) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {
            "content-type": "application/json",
            "content-length": str(len(content)),
            **(headers or {}),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


def serve(test: unittest.TestCase, handle: Callable[[Handler], None]) -> str:
    """Starts a server that ends with the test, and returns its URL."""
    requests: list[None] = []

    class Bound(Handler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.count = len(requests)
            requests.append(None)
            handle(self)

        do_POST = do_DELETE = do_GET

    server = ThreadingHTTPServer(("127.0.0.1", 0), Bound)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    test.addCleanup(server.server_close)
    test.addCleanup(thread.join)
    test.addCleanup(server.shutdown)
    return f"http://127.0.0.1:{server.server_port}"


def client_of(test: unittest.TestCase, base_url: str) -> tuple[Recordbridge, list[float]]:
    """Returns a client that records its pauses instead of waiting."""
    pauses: list[float] = []
    client = Recordbridge(base_url, "public_test_1", "key", wait=pauses.append)
    test.addCleanup(client.close)
    return client, pauses

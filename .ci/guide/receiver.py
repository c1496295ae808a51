"""Tests the guide's webhook receivers, and receives webhooks in their place."""

import base64
import contextlib
import hmac
import http.client
import http.server
import json
import socket
import threading
import time


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def headers(key, body, at):
    """Returns the headers of an event that is signed at a time (Standard Webhooks)."""
    event = json.loads(body)["id"]
    mac = hmac.digest(key, f"{event}.{at}.".encode() + body, "sha256")
    signature = "v1," + base64.b64encode(mac).decode()
    return {"webhook-id": event, "webhook-timestamp": str(at), "webhook-signature": f"v1,AAAA {signature}", "content-type": "application/json"}


def post(port, body, fields):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("POST", "/webhook", body, fields)
    status = connection.getresponse().status
    connection.close()
    return status


def await_port(port):
    deadline = time.monotonic() + 30
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            assert time.monotonic() < deadline, "the receiver doesn't listen"
            time.sleep(0.05)


def verify(port, key, body):
    """Sends a receiver a signed event, and events that it must reject: forged, old, unsigned, or signed by another key."""
    await_port(port)
    now = int(time.time())
    good = headers(key, body, now)
    rejected = {"forged": (body.replace(b'"test"', b'"live"'), good), "old": (body, headers(key, body, now - 600)),
                "unsigned": (body, {}), "another key's": (body, headers(b"other", body, now))}
    for name, (text, fields) in rejected.items():
        status = post(port, text, fields)
        assert 400 <= status < 500, f"the {name} event's status is {status}"
    status = post(port, body, good)
    assert 200 <= status < 300, f"the signed event's status is {status}"


@contextlib.contextmanager
def recording():
    """Yields the port of a receiver that accepts everything."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
